import { Command } from 'commander';

import { badInput, CellportError } from '../errors.js';
import type { HotKeys } from '../http/metrics.js';
import { isLoopback, urlOf } from '../loopback.js';
import { aligned } from './progress.js';
import { readSettings, withDatabase } from './session.js';

interface HotOptions {
  readonly spread?: string;
  readonly collection?: string;
  readonly url?: string;
  readonly json?: boolean;
}

const ANSWERS_WITHIN_MS = 10_000;

/** The server of these settings on this machine. */
async function ownUrl(): Promise<string> {
  const { http } = (await readSettings()).config;
  const { host, port } = http.admin ?? http;
  return urlOf(isLoopback(host) ? host : '127.0.0.1', port);
}

async function askServer(url: string): Promise<HotKeys> {
  if (!URL.canParse(url) || !/^https?:/.test(url))
    throw badInput('--url', url, 'a URL that begins with http:// or https://');
  const address = `${url.replace(/\/+$/, '')}/hot-keys`;
  const { key } = (await readSettings()).config;
  const headers = { ...(key !== undefined && { authorization: `Bearer ${key}` }) };
  const request = { headers, signal: AbortSignal.timeout(ANSWERS_WITHIN_MS) };
  const answer = await fetch(address, request).catch((error: Error) => {
    const reason = error.cause instanceof Error ? error.cause.message : error.message;
    throw new CellportError('UNAVAILABLE', `no server answers at ${address}: ${reason}; choose another one with --url`);
  });
  const body = (await answer.json().catch(() => ({}))) as Partial<HotKeys> & { errors?: { message: string }[] };
  if (answer.ok && body.keys !== undefined) return body as HotKeys;
  const reason = body.errors?.[0]?.message ?? `status ${answer.status}`;
  throw new CellportError('UNAVAILABLE', `${address} does not show hot keys: ${reason}`);
}

const figure = (units: number) => units.toFixed(1);
const percent = (share: number) => `${(share * 100).toFixed(1)}%`;

function printTable({ seconds, readUnits, writeUnits, missedAtMost, keys }: HotKeys): void {
  const units = `${figure(readUnits)} read and ${figure(writeUnits)} write units a second`;
  console.log(
    `${units} in the last ${Math.round(seconds)} s; a key may have up to ${percent(missedAtMost)} more than shown`,
  );
  if (keys.length === 0) return;
  const rows = [
    ['share', 'reads/s', 'writes/s', 'partition key', 'which is'],
    ...keys.map((hot) => [percent(hot.share), figure(hot.readUnits), figure(hot.writeUnits), hot.key, hot.names]),
  ];
  for (const line of aligned(rows, (column) => column >= 3)) console.log(`  ${line}`);
}

/** Begins to spread the writes of a prefix. */
async function spread(prefix: string, key: string): Promise<void> {
  await withDatabase(async ({ call }) => {
    const { beginSpread } = await import('../store/collection/spread.js');
    const { spreadOf } = await import('../model/spread.js');
    const collection = await beginSpread(call, key, prefix);
    const { shards, phase } = spreadOf(collection, prefix) ?? {};
    const state =
      phase === 'SPREAD'
        ? 'writers spread it'
        : 'readers read all of them, and running servers let writers spread it in about a minute';
    console.log(`prefix ${prefix} of ${key} has ${shards} shards: ${state}`);
  });
}

async function runHot({ url, json = false, spread: prefix, collection }: HotOptions): Promise<void> {
  if (prefix !== undefined) {
    if (collection === undefined) throw badInput('--collection', undefined, 'the key of the collection of --spread');
    return spread(prefix, collection);
  }
  const hot = await askServer(url ?? (await ownUrl()));
  if (json) console.log(JSON.stringify(hot, null, 2));
  else printTable(hot);
}

export function hotCommand(): Command {
  return new Command('hot')
    .description('Show the partition keys for which a running server consumes most capacity, or spread a prefix')
    .option('--url <url>', 'address of the server, or of its admin port (default: from the settings)')
    .option('--json', 'print JSON')
    .option('--spread <prefix>', 'spread the writes of a geohash prefix of a collection over more partitions')
    .option('-c, --collection <key>', 'with --spread, the collection')
    .addHelpText('after', `\nSee docs/scaling.md.`)
    .action(runHot);
}
