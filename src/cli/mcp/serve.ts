import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { Tool } from '@modelcontextprotocol/sdk/types.js';
import type { FormattedExecutionResult } from 'graphql';

import { badInput, CellportError, notFound, reasonFor } from '../../errors.js';
import { orAskFor } from '../../optional-package.js';
import { ANSWERS, zoomOf, type Values } from './answers.js';

/** Executes a query and returns its result as JSON. */
export type Execute = (body: { readonly query: string; readonly variables: Values }) => Promise<string>;

const tools = JSON.parse(readFileSync(new URL('../../../schema/tools.json', import.meta.url), 'utf8')) as {
  readonly tool: Tool;
  /** Its variables are the inputs of the tool. */
  readonly query: string;
}[];

/** Calls a tool. Throws why there is no answer; why a part of it is missing is among its `problems`. */
async function call(name: string, inputs: Values, execute: Execute): Promise<Values> {
  const asked = tools.find(({ tool }) => tool.name === name);
  if (asked === undefined) throw badInput('tool', name, `one of ${Object.keys(ANSWERS).join(', ')}`);
  const known = Object.keys(asked.tool.inputSchema.properties ?? {});
  const unknown = Object.keys(inputs).find((input) => !known.includes(input));
  if (unknown !== undefined) throw badInput('an input', unknown, `one of ${known.join(', ')}`);
  const variables = { zoom: zoomOf(inputs['bounds'] ?? {}), ...inputs };
  const json = await execute({ query: asked.query, variables });
  const { data, errors = [] } = JSON.parse(json) as FormattedExecutionResult;
  const problems = errors.map(({ message, extensions: { retryAfterMs } = {} }) => {
    const wait = retryAfterMs === undefined ? '' : `; try again in ${JSON.stringify(retryAfterMs)} ms`;
    return message.replace(/^Variable "\$(\w+)"/, 'Input $1') + wait;
  });
  const answer = data && ANSWERS[name]?.(data as never);
  if (answer) return { ...answer, ...(problems.length > 0 && { problems }) };
  if (problems.length === 0) throw notFound('collection', String(inputs['collection']));
  throw new CellportError('UNAVAILABLE', [...new Set(problems)].join('\n'));
}

async function loadSdk() {
  const orAsk = orAskFor('cellport mcp', '@modelcontextprotocol/sdk');
  const { Server } = await import('@modelcontextprotocol/sdk/server/index.js').catch(orAsk);
  const { StdioServerTransport } = await import('@modelcontextprotocol/sdk/server/stdio.js').catch(orAsk);
  return { Server, StdioServerTransport, ...(await import('@modelcontextprotocol/sdk/types.js')) };
}

/** Serves the tools on standard input and output until the client closes it, or the signal is aborted. */
export async function serveTools(execute: Execute, version: string, signal: AbortSignal): Promise<void> {
  const { Server, StdioServerTransport, CallToolRequestSchema, ListToolsRequestSchema } = await loadSdk();
  const server = new Server({ name: 'cellport', version }, { capabilities: { tools: {} } });
  server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: tools.map(({ tool }) => tool) }));
  server.setRequestHandler(CallToolRequestSchema, ({ params: { name, arguments: inputs = {} } }) => {
    const reply = (text: string, isError = false) => ({ content: [{ type: 'text' as const, text }], isError });
    return call(name, inputs, execute).then(
      (answer) => reply(JSON.stringify(answer)),
      (error: unknown) => {
        if (!(error instanceof CellportError)) console.error(error);
        return reply(reasonFor(error), true);
      },
    );
  });
  await server.connect(new StdioServerTransport());
  await once(process.stdin, 'end', { signal }).catch(() => undefined);
  await server.close();
}
