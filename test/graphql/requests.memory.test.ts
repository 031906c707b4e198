import type { OperationDefinitionNode } from 'graphql';
import { describe, expect, test } from 'vitest';

import { createContext } from '../../src/graphql/context.js';
import { compileOperation } from '../../src/graphql/execution/compiled.js';
import { HeldRequests } from '../../src/graphql/execution/subscriptions.js';
import { documentBytes, readDocument } from '../../src/graphql/limits/document-limits.js';
import { buildSchema } from '../../src/graphql/schema.js';
import { GraphqlServer } from '../../src/graphql/server.js';
import { Work } from '../../src/graphql/work.js';
import { silentLog } from '../../src/log.js';
import { DEFAULT_LIMITS } from '../../src/model/limits.js';
import { createServices } from '../../src/server/services.js';
import { memoryOf } from '../support/heap.js';
import { memoryDatabase } from '../support/memory-store.js';
import { inTurn, variants } from '../support/rounds.js';

const schema = buildSchema();
const services = createServices(memoryDatabase());

const LONG = 'x'.repeat(240);
const VIEW = 'viewport(bounds: {west: 0, south: 0, east: 10, north: 1}, zoom: 3)';
const each = (count: number, field: (nth: number) => string) =>
  Array.from({ length: count }, (_, nth) => field(nth)).join(' ');

/** Documents near the limits of what is compiled, each different for every number. */
const GREATEST: Readonly<Record<string, (n: number) => string>> = {
  '146 fields with long aliases': (n) =>
    `{${each(73, (a) => `a${n}_${a}${LONG}: collection(key: "a") { b${a}${LONG}: count }`)}}`,
  '150 fields with short ones': (n) => `{${each(75, (a) => `a${n}_${a}: collection(key: "a") { count }`)}}`,
  'fields without resolvers': (n) => `{a${n}: ${VIEW} { ${each(149, (a) => `b${a}: zoom`)} }}`,
  'fields that fail': (n) => `{a${n}${LONG}: ${VIEW} { ${each(149, (a) => `b${a}${LONG}: count(collection: "c")`)} }}`,
  'paths of ten aliases': (n) =>
    `{${each(14, (a) => {
      const markers = (inside: string) => `m${LONG}: markers(first: 1) { n${LONG}: nodes { c${LONG}: ${inside} } }`;
      return `a${n}_${a}${LONG}: collection(key: "a") { ${markers(`collection { ${markers('key')} }`)} }`;
    })}}`,
  'a map': (n) =>
    `query Map${n} { ${VIEW} { auto(collection: "a") { markers { id name position { lng lat } } clusters { count } } } }`,
};

const operationOf = (text: string) => {
  const document = readDocument(text, DEFAULT_LIMITS);
  return { document, operation: document.definitions[0] as OperationDefinitionNode };
};

describe.each(variants(Object.entries(GREATEST)))('%s', (_, text) => {
  test('take no more memory than is assumed, parsed and compiled', async () => {
    const DOCUMENTS = 6;
    const made = async (from: number) => {
      const all = Array.from({ length: DOCUMENTS }, (_none, n) => operationOf(text(from + n))).map((parsed) => {
        return { ...parsed, compiled: compileOperation(schema, parsed.document, parsed.operation) };
      });
      for (let run = 0; run < 3; run++) {
        const context = createContext(
          services,
          new Work(DEFAULT_LIMITS, services.db, { cost: false, reads: false }),
          undefined,
        );
        for (const { compiled } of all) await compiled?.run(context, {});
        context.work.end();
      }
      return all;
    };
    // What all of them share.
    await made(1_000);
    const { made: all, bytes } = await memoryOf(() => made(0));
    expect(all.every(({ compiled }) => compiled !== undefined)).toBe(true);
    expect(bytes).toBeLessThan(all.reduce((sum, { compiled }) => sum + (compiled?.bytes ?? 0), 0));
    const parsed = await memoryOf(() => Array.from({ length: DOCUMENTS }, (_none, n) => operationOf(text(n)).document));
    expect(parsed.bytes).toBeLessThan(parsed.made.reduce((sum, document) => sum + documentBytes(document), 0));
  });
});

/** What a server keeps of documents, see docs/security.md. */
const KEPT_BYTES = (32 + 32) * 1024 * 1024;

const kept = [
  ['sent once, of 8,000 tokens', (n: number) => `{nodes(ids: [${'"a" '.repeat(7_900)}]) {id}} #${n}`, 60, 1],
  ['compiled, with long aliases', GREATEST['146 fields with long aliases'] ?? String, 45, 4],
] as const;
const turn = inTurn(2);
test.runIf(turn()).each(variants(kept))(
  'a server keeps no more of documents than it may: %s',
  async (_, text, documents, times) => {
    const server = await GraphqlServer.open(services, silentLog);
    const send = async (query: string) => {
      const headers = { 'content-type': 'application/json' };
      await server.answer({ method: 'POST', headers, search: '', body: { query } }, new AbortController().signal);
    };
    for (let time = 0; time < times; time++) await send(text(documents));
    const { bytes } = await memoryOf(async () => {
      for (let n = 0; n < documents; n++) for (let time = 0; time < times; time++) await send(text(n));
    });
    expect(bytes).toBeLessThan(KEPT_BYTES);
    await server.stop();
  },
);

test.runIf(turn())(
  'requests of subscriptions are refused beyond a bound, and those that have ended make room for others',
  () => {
    const held = new HeldRequests();
    const document = readDocument('subscription { markerChanged(collection: "a") { id } }', DEFAULT_LIMITS);
    const large = { query: 'x'.repeat(12 * 1024 * 1024) };
    for (let time = 0; time < 5; time++) {
      const release = held.hold(document, large);
      expect(() => held.hold(document, large)).toThrow(/bytes of the subscriptions/);
      release();
    }
    // The same document is kept once, however many subscriptions have it.
    const [long] = [readDocument(`{nodes(ids: [${'"a" '.repeat(7_900)}]) {id}}`, DEFAULT_LIMITS)];
    const all = Array.from({ length: 1_000 }, () => held.hold(long, {}));
    for (const release of all) release();
    const others = Array.from({ length: 20 }, () =>
      readDocument(`{nodes(ids: [${'"a" '.repeat(7_900)}]) {id}}`, DEFAULT_LIMITS),
    );
    expect(() => others.map((each) => held.hold(each, {}))).toThrow(/bytes of the subscriptions/);
  },
);
