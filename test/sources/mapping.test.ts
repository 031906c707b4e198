import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import prettier from 'prettier';
import { describe, expect, test } from 'vitest';

import { CellportError } from '../../src/errors.js';
import { mappingSchema, readMapping } from '../../src/sources/mapping.js';

const SHOPS = { table: 'my-app', key: '{id}', position: { lng: 'lng', lat: 'lat' } };

function faultsOf(json: unknown): string[] {
  try {
    readMapping(json);
  } catch (error) {
    if (error instanceof CellportError && error.code === 'BAD_USER_INPUT') return error.message.split('\n');
    throw error;
  }
  return [];
}

test.each([
  [{ place: [Array(33).fill('a')] }, /^place\[0\] must be a path .*; got \["a","a",.*$/],
  [{ name: 'a'.repeat(3_000) }, /^name must be a path .* \(3000 characters\)$/],
  [{ items: { PK: 'a'.repeat(3_000) } }, /^items\.PK must be a template .* \(3000 characters\)$/],
])('too long a path or template is named like any other fault (%#)', (mapping, fault) => {
  expect(faultsOf({ ...SHOPS, ...mapping }).join('\n')).toMatch(fault);
});

describe('an error names the path in the mapping, what is allowed, and the value', () => {
  const PATH = 'must be a path such as "a.b[0].c", or a list of names where a name holds a dot, such as ["a.b", "c"]';
  const TEMPLATE = 'must be a template such as "SHOP#{key}": parts in braces, all different, with text between them';
  const KEY =
    'must be a template over attributes such as "{itemId}" or "{PK}#{SK}", unless the templates of items have parts';
  test.each<[unknown, ...string[]]>([
    [{ ...SHOPS }],
    [[], 'the mapping must be an object with table, key, position and other fields: see docs/sources.md; got []'],
    [
      { ...SHOPS, table: 'my app' },
      'table must be the name of a DynamoDB table: 3 to 255 characters of A-Z, a-z, 0-9, "_", "-" and "."; got "my app"',
    ],
    [
      { ...SHOPS, postion: {}, Name: 'a' },
      'postion is unknown; the nearest name is position',
      'Name is unknown; the nearest name is name',
    ],
    [
      { ...SHOPS, position: { ...SHOPS.position, fallbck: 1 } },
      'position.fallbck is unknown; the nearest name is fallback',
    ],
    [
      { ...SHOPS, position: { lon: 'a', lat: 'b' } },
      `position.lng ${PATH}; it is missing`,
      'position.lon is unknown; the nearest name is lng',
    ],
    [{ ...SHOPS, name: ['a', -1] }, 'name[1] must be a name, or an index from 0; got -1'],
    [{ ...SHOPS, name: ['a', 1e300] }, 'name[1] must be a name, or an index from 0; got 1e+300'],
    [
      { ...SHOPS, position: { lng: 'a..b', lat: 3 } },
      `position.lng ${PATH}; got "a..b"`,
      `position.lat ${PATH}; got 3`,
    ],
    [{ ...SHOPS, position: {} }, `position.lng ${PATH}; it is missing`, `position.lat ${PATH}; it is missing`],
    [
      { ...SHOPS, position: { path: 'a', as: 'latlng' } },
      'position.as must be one of geojson | wkt | lat,lng | lng,lat | geohash; got "latlng"',
    ],
    [
      { ...SHOPS, position: { path: 'a', as: 'wkt', fallback: { path: [1], as: 'wkt' } } },
      `position.fallback.path ${PATH}; got [1]`,
    ],
    [{ ...SHOPS, key: '{a}{b}' }, `key ${TEMPLATE}; got "{a}{b}"`],
    [{ ...SHOPS, key: 'shop' }, `key ${KEY}; got "shop"`],
    [{ ...SHOPS, key: '{a..b}' }, `key ${KEY}; got "{a..b}"`],
    [{ ...SHOPS, key: undefined, items: { SK: 'META' } }, `key ${KEY}; it is missing`],
    [{ ...SHOPS, items: { PK: 'SHOP#{key' } }, `items.PK ${TEMPLATE}; got "SHOP#{key"`],
    [
      {
        ...SHOPS,
        where: [
          { path: 'type', eq: 'shop' },
          { path: 'a', eq: 1, ne: 2 },
          { path: 'a', in: 'x' },
        ],
      },
      'where[1] must have one comparison of eq, ne, in, gt, gte, lt, lte, contains, exists; got {"path":"a","eq":1,"ne":2}',
      'where[2].in must be a list of texts, numbers, true, false or null; got "x"',
    ],
    [
      { ...SHOPS, properties: Array<string>(101).fill('a') },
      expect.stringContaining('properties must be a list of at most 100 paths; got ["a"'),
    ],
    [
      { ...SHOPS, each: 'doors', newest: 'at' },
      'newest must be left out with each: entries are those of one item; got "at"',
    ],
    [{ ...SHOPS, details: 'all' }, 'details must be a list of paths, or "*" for everything else; got "all"'],
  ])('%j', (json, ...faults) => {
    expect(faultsOf(json)).toEqual(faults);
  });
});

test('the published JSON Schema is current; npx vitest run test/sources/mapping.test.ts -u writes it', async () => {
  const file = resolve(import.meta.dirname, '../../schema/source-mapping.schema.json');
  const text = await prettier.format(JSON.stringify(mappingSchema()), { parser: 'json', printWidth: 120 });
  await expect(text).toMatchFileSnapshot(file);
});

test('the examples of docs/sources.md are valid', () => {
  const text = readFileSync(resolve(import.meta.dirname, '../../docs/sources.md'), 'utf8');
  const examples = [...text.matchAll(/^```json\n(.*?)^```$/gms)].map(([, json = '']) => JSON.parse(json) as unknown);
  expect(examples.map(faultsOf)).toEqual([[], [], [], []]);
});
