import { Command } from 'commander';

import { badInput, CellportError } from '../errors.js';
import type { Execute } from './mcp/serve.js';
import { withDatabase, withSettings } from './session.js';

const ANSWERS_WITHIN_MS = 30_000;

const requestWith = (key: string | undefined) => ({
  method: 'POST',
  headers: { 'content-type': 'application/json', ...(key !== undefined && { authorization: `Bearer ${key}` }) },
});

/** Asks the server at a URL. Throws BAD_USER_INPUT if it is none. */
function executeAt(url: string, key: string | undefined): Execute {
  if (!URL.canParse(url) || !/^https?:/.test(url))
    throw badInput('--url', url, 'a URL that begins with http:// or https://');
  // Both are called a server's URL.
  const address = `${url.replace(/(\/graphql)?\/*$/, '')}/graphql`;
  return async (operation, cancelled) => {
    const signal = AbortSignal.any([cancelled, AbortSignal.timeout(ANSWERS_WITHIN_MS)]);
    const request = { body: JSON.stringify(operation), signal };
    const response = await fetch(address, { ...requestWith(key), ...request }).catch(() => undefined);
    const text = (await response?.text().catch(() => '')) ?? '';
    if (/^\{"(data|errors)"/.test(text)) return text;
    const status = response === undefined ? '' : ` (status ${response.status})`;
    throw new CellportError('UNAVAILABLE', `no Cellport answers at ${address}${status}`);
  };
}

async function serve(url: string | undefined, version: string): Promise<void> {
  const { serveTools } = await import('./mcp/serve.js');
  if (url !== undefined) {
    return withSettings(({ config: { key }, signal }) => serveTools(executeAt(url, key), version, signal));
  }
  await withDatabase(async ({ config, log, signal, ...backend }) => {
    const { openReadOnly } = await import('../server/read-only.js');
    const { key, auth } = config;
    // A key opens what it allows and no more, even where nothing says that keys are asked for.
    const opened = await openReadOnly({ ...config, auth: key === undefined ? auth : true }, backend, log);
    const request = { ...requestWith(key), search: '' };
    const execute: Execute = async (body, cancelled) =>
      (await opened.graphql.answer({ ...request, body }, AbortSignal.any([cancelled, signal]))).body.toString();
    await serveTools(execute, version, signal);
    await opened.close();
  });
}

export function mcpCommand(version: string): Command {
  return new Command('mcp')
    .description('Give AI assistants tools that list, count and find markers: an MCP server on stdin and stdout')
    .option('--url <url>', 'query this server (default: read the tables of the settings)')
    .addHelpText(
      'after',
      `
The tools only read. They may do what CELLPORT_KEY, an API key or a token, allows. The command needs the package
@modelcontextprotocol/sdk. See docs/embedding.md.`,
    )
    .action(({ url }: { readonly url?: string }) => serve(url, version));
}
