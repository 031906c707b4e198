import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { Tool } from '@modelcontextprotocol/sdk/types.js';
import type { FormattedExecutionResult } from 'graphql';

import { badInput, CellportError, notFound, reasonFor } from '../../errors.js';
import { orAskFor } from '../../optional-package.js';

type Values = Readonly<Record<string, unknown>>;

interface Page {
  readonly edges: readonly { readonly cursor: string; readonly distance?: number; readonly node: Values }[];
  readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string | null };
}

/** What queries ask for, each something else; null if it has failed. */
interface Data {
  readonly list: Page;
  readonly viewport: { readonly count: number | null; readonly list: Page | null } | null;
  readonly content: { readonly auto: Content | null } | null;
  readonly collection: { readonly list: Page } | null;
  readonly search: (Page & { readonly totalCount: number }) | null;
}

interface Content {
  readonly total: number;
  readonly markers: readonly { readonly category: string | null }[];
  readonly clusters: readonly { readonly count: number }[];
}

/** Characters of an answer, some 10,000 tokens, of each object in it, and of each text in a longer one. */
const MOST = { answer: 30_000, object: 3_000, text: 200, counts: 30 };

const lengthOf = (value: unknown) => JSON.stringify(value).length;

/** An object as it is if it is short; otherwise, with its texts cut and, if that is not enough, without its properties. */
function fitting(node: Values): Values {
  if (lengthOf(node) <= MOST.object) return node;
  const cut = (name: string, value: unknown) =>
    typeof value === 'string' && name !== 'id' && value.length > MOST.text ? `${value.slice(0, MOST.text)}…` : value;
  const short = JSON.parse(JSON.stringify(node, cut)) as Values;
  return lengthOf(short) <= MOST.object ? short : { ...short, properties: 'left out: too long' };
}

/** As much of a page as fits into an answer and, if there is more, how to go on. */
function shown({ edges, pageInfo }: Page): Values {
  let room = MOST.answer;
  const items = edges.map(({ node, distance }) => ({ distance, ...fitting(node) }));
  const end = items.findIndex((item, at) => (room -= lengthOf(item)) < 0 && at > 0);
  const endCursor = edges[end - 1]?.cursor ?? (pageInfo.hasNextPage ? pageInfo.endCursor : null);
  const more = { more: 'call again with the same inputs, and with `endCursor` as `after`', endCursor };
  return { items: end < 0 ? items : items.slice(0, end), ...(endCursor !== null && more) };
}

/** The zoom at which bounds are 1,024 pixels wide. */
function zoomOf({ west = -180, east = 180 }: { readonly west?: number; readonly east?: number }): number {
  const width = east > west ? east - west : east - west + 360;
  return Math.min(22, Math.max(1, Math.log2(720 / width))) || 1;
}

/** What each tool shows of the data of its query; undefined if there is nothing. */
const ANSWERS: Readonly<Record<string, (data: Data) => Values | undefined>> = {
  collections: ({ list }) => shown(list),
  viewport: ({ viewport }) => (viewport?.list ? { count: viewport.count, ...shown(viewport.list) } : undefined),
  near: ({ collection }) => (collection ? shown(collection.list) : undefined),
  search: ({ search }) => (search ? { total: search.totalCount, ...shown(search) } : undefined),
  summary({ content }) {
    if (!content?.auto) return undefined;
    const { total, markers, clusters } = content.auto;
    if (clusters.length === 0) {
      const counts = new Map<string, number>();
      for (const { category } of markers) {
        const name = category?.slice(0, MOST.text) ?? '(none)';
        counts.set(name, (counts.get(name) ?? 0) + 1);
      }
      const categories = [...counts].sort(([, one], [, other]) => other - one).slice(0, MOST.counts);
      return { total, categories: Object.fromEntries(categories), rarerCategories: counts.size - categories.length };
    }
    const largest = clusters.toSorted((one, other) => other.count - one.count).slice(0, MOST.counts);
    const more = 'call again with the bounds of a cluster, or with a filter';
    return { total, more, clusters: largest, smallerClusters: clusters.length - largest.length };
  },
};

/** Executes a query until it is aborted, and returns its result as JSON. */
export type Execute = (
  body: { readonly query: string; readonly variables: Values },
  end: AbortSignal,
) => Promise<string>;

const tools = JSON.parse(readFileSync(new URL('../../../schema/tools.json', import.meta.url), 'utf8')) as {
  readonly tool: Tool;
  /** Its variables are the inputs of the tool. */
  readonly query: string;
}[];

/** Calls a tool. Throws why there is no answer; why a part of it is missing is among its `problems`. */
async function call(name: string, inputs: Values, execute: Execute, end: AbortSignal): Promise<Values> {
  const asked = tools.find(({ tool }) => tool.name === name);
  if (asked === undefined) throw badInput('tool', name, `one of ${Object.keys(ANSWERS).join(', ')}`);
  const known = Object.keys(asked.tool.inputSchema.properties ?? {});
  const unknown = Object.keys(inputs).find((input) => !known.includes(input));
  if (unknown !== undefined) throw badInput('an input', unknown, `one of ${known.join(', ')}`);
  const variables = { zoom: zoomOf(inputs['bounds'] ?? {}), ...inputs };
  const json = await execute({ query: asked.query, variables }, end);
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
  server.setRequestHandler(CallToolRequestSchema, ({ params: { name, arguments: inputs = {} } }, extra) => {
    const reply = (text: string, isError = false) => ({ content: [{ type: 'text' as const, text }], isError });
    return call(name, inputs, execute, extra.signal).then(
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
