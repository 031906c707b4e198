import { expect, test, vi } from 'vitest';

import { errorFormatter } from '../../../src/graphql/error-format.js';
import { documentReader } from '../../../src/graphql/execution/documents.js';
import { buildSchema } from '../../../src/graphql/schema.js';
import { silentLog } from '../../../src/log.js';
import { DEFAULT_LIMITS } from '../../../src/model/limits.js';

const schema = buildSchema();
const reader = (format = errorFormatter(silentLog)) =>
  documentReader({ schema, limits: DEFAULT_LIMITS, introspection: true, format });

test('a document is parsed and validated once, however often it is sent', () => {
  const read = reader();
  const QUERY = 'subscription {markerChanged(collection: "parks") {id}}';
  const { document } = read(QUERY);
  expect(document).toBeDefined();
  for (let round = 0; round < 5_000; round++) expect(read(`${QUERY}`).document).toBe(document);
  expect(read(`${QUERY} `).document, 'another text is another document').not.toBe(document);
});

test('a refused document is also validated only once', () => {
  const format = vi.fn(errorFormatter(silentLog));
  const read = reader(format);
  for (const query of ['{nothing}', '{', `{${'a'.repeat(300)}}`]) {
    const { errors } = read(query);
    expect(errors).toHaveLength(1);
    format.mockClear();
    expect(read(query).errors).toBe(errors);
    expect(format).not.toHaveBeenCalled();
  }
});

test('the cache is bounded: the oldest document is evicted', () => {
  const read = reader();
  const first = read('{__typename}').document;
  // About 4 MB each, parsed.
  for (let at = 0; at < 14; at++)
    expect(read(`{nodes(ids: [${'"a" '.repeat(7_900)}]) {id}} #${at}`).document).toBeDefined();
  expect(read('{__typename}').document).not.toBe(first);
});

test('errors have their locations in the document', () => {
  const { errors } = reader()('{\n  collections {\n    nodes {key nme}\n  }\n  nothing\n}');
  expect(errors?.map(({ locations }) => locations)).toEqual([[{ line: 3, column: 16 }], [{ line: 5, column: 3 }]]);
});
