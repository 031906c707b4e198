import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { markersInPlace, placesUnder } from '../../src/map/places.js';
import { placeParent } from '../../src/model/cell.js';
import type { Collection } from '../../src/model/collection.js';
import { newCall, type Database } from '../../src/store/database.js';
import { newMarkerItem } from '../../src/store/marker/marker-item.js';
import { updateMarker } from '../../src/store/marker/marker-update.js';
import { putMarkersInBulk } from '../../src/store/marker/markers.js';
import { addCells } from '../support/add-cells.js';
import { recordCalls } from '../support/record-calls.js';
import { variants } from '../support/rounds.js';
import { testDatabase } from '../support/test-database.js';
import { makeCollection, NOW, requestContext } from './fixture.js';

const databases = { readable: await testDatabase('readable'), compact: await testDatabase('compact') };
const composed = 'Pozna\u0144';
const decomposed = 'Poznan\u0301';

async function hang(db: Database, collection: Collection, places: Readonly<Record<string, readonly string[]>>) {
  const items = Object.entries(places).map(([key, place]) =>
    newMarkerItem(db, collection, { key, position: { lng: 1, lat: 2 }, place }, NOW),
  );
  await putMarkersInBulk(newCall(db), items);
}

/** All markers at a place, page by page. */
async function keysIn(db: Database, collection: Collection, place: readonly string[], first = 100) {
  const keys: string[] = [];
  let after: string | null = null;
  for (let pages = 0; pages < 500; pages += 1) {
    const { context } = requestContext(db);
    const { edges, pageInfo } = await markersInPlace(context, collection, place, { first, after });
    expect(edges.length).toBeLessThanOrEqual(first);
    expect(pageInfo.hasPreviousPage).toBe(after !== null);
    keys.push(...edges.map(({ node }) => node.key));
    if (!pageInfo.hasNextPage) return keys;
    expect(pageInfo.endCursor).not.toBeNull();
    after = pageInfo.endCursor;
  }
  throw new Error('the pages have no end');
}

describe.each(variants(['readable', 'compact'] as const))('markers by their place, with %s keys', async (style) => {
  const db = databases[style];
  const houses = await makeCollection(db, { key: 'houses', name: 'Houses', code: 'Ho' }, []);

  test('are found at any depth, by whole names only, in any Unicode normalization', async () => {
    await hang(db, houses, {
      a: [composed, 'A', '1'],
      b: [decomposed, 'A', '12'],
      c: [composed, 'A'],
      d: ['Poznan', 'A', '1'],
      e: [composed],
      f: [composed, 'A', '1', '13'],
      g: ['Berlin', 'D', '4'],
      'A::1::x': [composed],
      h: [composed, 'A::1'],
      i: [],
    });
    const found = async (...place: string[]) => (await keysIn(db, houses, place)).toSorted();
    expect(await found(decomposed)).toEqual(['A::1::x', 'a', 'b', 'c', 'e', 'f', 'h']);
    expect(await found(composed)).toEqual(await found(decomposed));
    expect(await found('Poznan')).toEqual(['d']);
    expect(await found(composed, 'A')).toEqual(['a', 'b', 'c', 'f']);
    expect(await found(composed, 'A', '1')).toEqual(['a', 'f']);
    expect(await found(composed, 'A', '1', '13')).toEqual(['f']);
    expect(await found(composed, 'A::1')).toEqual(['h']);
    expect(await found('Berlin', 'D', '4')).toEqual(['g']);
  });

  test('have their place without a read of their base items', async () => {
    const calls = recordCalls(db);
    const { context } = requestContext(db);
    const { edges } = await markersInPlace(context, houses, ['Berlin'], { first: 10 });
    expect(edges.map(({ node }) => node.place)).toEqual([['Berlin', 'D', '4']]);
    expect(calls.commands.map(({ name }) => name)).toEqual(['Query']);
  });

  test('follow a change of place, and disappear with it', async () => {
    const change = (place: string[] | null) =>
      updateMarker(newCall(db), { collection: houses, key: 'g' }, { place }, { now: NOW });
    await change(['Berlin', 'E']);
    expect([await keysIn(db, houses, ['Berlin', 'D']), await keysIn(db, houses, ['Berlin'])]).toEqual([[], ['g']]);
    await change(null);
    expect(await keysIn(db, houses, ['Berlin'])).toEqual([]);
  });

  test('are paged in any page size, each once, as in a linear scan', async () => {
    const name = fc.constantFrom(
      '1',
      '12',
      '2',
      'a:',
      ':b',
      '::',
      ';',
      '%',
      '#',
      composed,
      decomposed,
      'Poznan',
      '\u{10ffff}',
    );
    const place = fc.array(name, { minLength: 1, maxLength: 4 });
    let run = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.array(place, { minLength: 1, maxLength: 25 }),
        fc.array(place, { minLength: 1, maxLength: 4 }),
        fc.integer({ min: 1, max: 7 }),
        async (places, asked, first) => {
          const collection = { ...houses, key: `run-${style}-${(run += 1)}`, code: `${run % 10}${'abcd'[run % 4]}` };
          const scope = db.keys.scope(collection);
          const own = (key: string) => `${scope}-${run}-${key}`;
          await hang(db, collection, Object.fromEntries(places.map((one, n) => [own(`k${n}`), one])));
          for (const under of [...asked, ...places.slice(0, 2), places[0]!.slice(0, 1)]) {
            const normal = under.map((one) => one.normalize('NFC'));
            const inside = (one: readonly string[]) => normal.every((part, n) => one[n]?.normalize('NFC') === part);
            const wanted = places.flatMap((one, n) => (inside(one) ? [own(`k${n}`)] : []));
            const found = (await keysIn(db, collection, under, first)).filter((key) => key.startsWith(own('')));
            expect(found.toSorted()).toEqual(wanted.toSorted());
          }
        },
      ),
      { numRuns: 30 },
    );
  });
});

describe('a page of markers by their place', async () => {
  const db = databases.readable;
  const yards = await makeCollection(db, { key: 'yards', name: 'Yards' }, []);

  test('resumes where the last one ended, whatever is created or deleted in between', async () => {
    await hang(db, yards, Object.fromEntries(['a', 'b', 'c', 'd'].map((key) => [key, ['X', key]])));
    const page = (after?: string | null) =>
      markersInPlace(requestContext(db).context, yards, ['X'], { first: 2, after });
    const first = await page();
    expect(first.edges.map(({ node }) => node.key)).toEqual(['a', 'b']);
    await updateMarker(newCall(db), { collection: yards, key: 'b' }, { place: null }, { now: NOW });
    await hang(db, yards, { aa: ['X', 'a'], cc: ['X', 'c'] });
    const second = await page(first.pageInfo.endCursor);
    expect(second.edges.map(({ node }) => node.key)).toEqual(['c', 'cc']);
  });

  test.each<[string, readonly string[], object]>([
    ['no names', [], { field: 'place' }],
    ['an empty name', ['X', ''], { field: 'place[1]' }],
    ['13 names', Array.from({ length: 13 }, () => 'x'), { field: 'place' }],
    ['a name of 201 bytes', ['x'.repeat(201)], { field: 'place[0]' }],
    ['half a surrogate pair', ['\ud800'], { field: 'place[0]' }],
  ])('of %s is rejected by name', async (_, place, details) => {
    await expect(markersInPlace(requestContext(db).context, yards, place, { first: 2 })).rejects.toMatchObject({
      code: 'BAD_USER_INPUT',
      details,
    });
  });

  test('rejects a cursor of another place', async () => {
    const { context } = requestContext(db);
    const { pageInfo } = await markersInPlace(context, yards, ['X'], { first: 1 });
    await expect(markersInPlace(context, yards, ['Y'], { first: 1, after: pageInfo.endCursor })).rejects.toMatchObject({
      code: 'BAD_USER_INPUT',
      details: { field: 'after' },
    });
  });

  test('rejects a place and a key that are too long together before anything is written', () => {
    const place = ['X', ...Array.from({ length: 11 }, () => 'x'.repeat(95))];
    expect(() => newMarkerItem(db, yards, { key: 'k', position: { lng: 0, lat: 0 }, place }, NOW)).toThrow(
      /^place must be at most 1024 bytes together with the key/,
    );
  });
});

describe.each(variants(['readable', 'compact'] as const))('places under a place, with %s keys', async (style) => {
  const db = databases[style];
  const sheds = await makeCollection(db, { key: 'sheds', name: 'Sheds', code: 'Pl' }, []);
  const scope = db.keys.scope(sheds);
  let batch = 1;
  const count = async (...counts: (readonly [place: readonly string[], count: number])[]) => {
    const blocks = counts.map(
      ([place, n]) => [placeParent(place), new Map([['', { count: n, sumLng: 0, sumLat: 0 }]])] as const,
    );
    await addCells(db, scope, (batch += 1), new Map(blocks));
  };
  const under = (...place: string[]) => placesUnder(requestContext(db).context, sheds, place);
  await count([['Ż'], 4], [[composed], 3], [['a#'], 1], [['a$'], 1], [['Poznan'], 1], [['total'], 1]);
  await count([[composed, 'A'], 2], [[composed, 'B'], 1], [[composed, 'A', '1'], 2], [['gone'], 2]);
  await count([['gone'], -2], [[composed, 'B'], 2]);

  test('are the names of the next level, in byte order, except those without markers', async () => {
    expect(await under()).toEqual(
      Object.entries({ Poznan: 1, [composed]: 3, 'a#': 1, a$: 1, total: 1, Ż: 4 }).map(([name, n]) => ({
        name,
        place: [name],
        count: n,
      })),
    );
    expect(await under(decomposed)).toEqual([
      { name: 'A', place: [composed, 'A'], count: 2 },
      { name: 'B', place: [composed, 'B'], count: 3 },
    ]);
    expect(await under(composed, 'A')).toEqual([{ name: '1', place: [composed, 'A', '1'], count: 2 }]);
    expect(await under('gone')).toEqual([]);
  });

  test('cost one Query of their own partition, and read no marker', async () => {
    const calls = recordCalls(db);
    await under(composed);
    expect(calls.commands).toMatchObject([{ name: 'Query', input: { TableName: db.tables.derived } }]);
    expect(calls.commands[0]?.input).not.toHaveProperty('IndexName');
  });

  test.each([
    [{ maxFirst: 5 }, '6 names', '5 names'],
    [{ itemsPerField: 6 }, 'more than can be read at once', '6 items'],
  ])('are complete or rejected, with the limits %o', async (limits, value, limit) => {
    const { context } = requestContext(db, { limits });
    await expect(placesUnder(context, sheds, [])).rejects.toMatchObject({
      code: 'LIMIT_EXCEEDED',
      details: { field: 'places', value, limit },
    });
    const roomy = requestContext(db, { limits: { maxFirst: 6, itemsPerField: 7 } });
    expect(await placesUnder(roomy.context, sheds, [])).toHaveLength(6);
  });

  test('are rejected, naming the field, for an empty name', async () => {
    await expect(under('A', '')).rejects.toMatchObject({ code: 'BAD_USER_INPUT', details: { field: 'under[1]' } });
  });
});
