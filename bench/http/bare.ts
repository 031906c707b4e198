/**
 * The floor that the server is compared to, in a separate process controlled by messages: a bare node:http server that
 * stringifies the same data for each request, and the bare SDK making the same Query calls.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient, QueryCommand, type QueryCommandInput } from '@aws-sdk/lib-dynamodb';

export type BareOrder =
  | { readonly do: 'serve'; readonly data: readonly unknown[] }
  | { readonly do: 'query'; readonly requests: readonly QueryCommandInput[] };

export type BareAnswer =
  { readonly port: number } | { readonly ms: number; readonly items: number; readonly cpuMs: number };

const client = DynamoDBDocumentClient.from(new DynamoDBClient({}));
let data: readonly unknown[] = [];

/** `/n` responds with the nth data set as JSON, after reading the whole request like any POST server. */
const server = createServer((request, response) => {
  request.on('data', () => undefined);
  request.on('end', () => {
    const body = JSON.stringify(data[Number(request.url?.slice(1))]);
    response.setHeader('content-type', 'application/json; charset=utf-8');
    response.setHeader('content-length', Buffer.byteLength(body));
    response.end(body);
  });
});

async function query(requests: readonly QueryCommandInput[]): Promise<BareAnswer> {
  const began = performance.now();
  const cpu = process.cpuUsage();
  const pages = await Promise.all(requests.map((request) => client.send(new QueryCommand(request))));
  const { user, system } = process.cpuUsage(cpu);
  const items = pages.reduce((sum, { Items = [] }) => sum + Items.length, 0);
  return { ms: performance.now() - began, items, cpuMs: (user + system) / 1_000 };
}

async function obey(order: BareOrder): Promise<BareAnswer> {
  if (order.do === 'query') return query(order.requests);
  ({ data } = order);
  if (!server.listening) await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  return { port: (server.address() as AddressInfo).port };
}

process.on('message', (order: BareOrder | string) => {
  // Handled in measured.mjs.
  if (typeof order === 'string') return;
  void obey(order).then((answer) => process.send?.(answer));
});
process.channel?.ref();
process.on('disconnect', () => process.exit());
