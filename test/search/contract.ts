import fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';

import { normalizeBounds, type Area } from '../../src/geo/bounds.js';
import { distance } from '../../src/geo/distance.js';
import type { SearchChange, SearchDocument, SearchEngine, SearchHit, SearchQuery } from '../../src/search/engine.js';
import { wordsOf } from '../../src/search/words.js';
import { someOf } from '../support/rounds.js';
import { documentOf } from './documents.js';
import { scan, scanNear } from './oracle.js';

const EVERYTHING: SearchQuery = { words: [], scopes: undefined, area: undefined, near: undefined };
const put = (document: SearchDocument): SearchChange => ({ type: 'put', document });

/** All hits of a query, read in pages of a few. */
async function all(engine: SearchEngine, query: SearchQuery, limit = 100): Promise<SearchHit[]> {
  const hits: SearchHit[] = [];
  for (;;) {
    const page = await engine.search(query, { after: hits.at(-1)?.position, limit });
    hits.push(...page);
    if (page.length < limit) return hits;
  }
}

const typed = (text: string, more: Partial<SearchQuery> = {}): SearchQuery => ({
  ...EVERYTHING,
  words: wordsOf(text),
  ...more,
});
const keysOf = (hits: readonly SearchHit[]) => hits.map(({ key }) => key.pk.split('::')[2] ?? '');

const WORDS = ['São', 'Sao', 'Paulo', 'Łódź', 'a', 'ab', 'abbey', 'Ünterabbey', '12', 'x-y', "l'Été"];
const phrase = fc
  .array(fc.constantFrom(...WORDS.filter((word) => word !== 'Łódź')), { maxLength: 3 })
  .map((words) => words.join(' '));
const lng = fc.constantFrom(-180, -179.5, -1, 0, 0.5, 1, 2.9, 90, 179.9, 180);
const lat = fc.constantFrom(-90, -41, 0, 0.5, 1, 41, 90);
const point = fc.record({ lng, lat });
const area = fc
  .tuple(lng, lng, lat, lat)
  .map(([west, east, a, b]): Area =>
    normalizeBounds('b', { west, east, south: Math.min(a, b), north: Math.max(a, b) }),
  );
const scope = fc.constantFrom('cities', 'parks');
/** Documents with decreasing ranks. */
const documents = fc.array(fc.record({ name: phrase, rest: phrase, scope, at: point }), { maxLength: 40 }).map((all) =>
  all.map(({ name, rest, scope: of, at }, index) => {
    const bounds = { west: at.lng, east: at.lng, south: at.lat, north: at.lat };
    return documentOf(String(index), { name, rest, scope: of, bounds, rank: (index - 20) ** 3 });
  }),
);
const filters = {
  scopes: fc.option(fc.uniqueArray(scope), { nil: undefined }),
  area: fc.option(area, { nil: undefined }),
};

/** The contract of every engine; `numRuns` reduces the runs of a property if each is slow. */
export function describeEngine(
  name: string,
  open: () => Promise<SearchEngine>,
  numRuns: (runs: number) => number = someOf,
): void {
  describe(`the ${name} engine`, () => {
    let opened: SearchEngine | undefined;
    const engine = async () => (opened ??= await open());
    afterAll(() => opened?.close());
    const filled = async (changes: readonly SearchChange[]) => {
      const own = await engine();
      await own.clear();
      await own.write(changes, 'filled');
      return own;
    };

    test('finds what a linear scan finds, in the same order, page by page, and counts it', async () => {
      await fc.assert(
        fc.asyncProperty(
          documents,
          fc.record({ text: phrase, typos: fc.boolean(), ...filters }),
          fc.integer({ min: 1, max: 7 }),
          async (given, wanted, limit) => {
            const own = await filled(given.map(put));
            const query = typed(wanted.text, { scopes: wanted.scopes, area: wanted.area, typos: wanted.typos });
            const hits = await all(own, query, limit);
            const expected = scan(given, wanted);
            const exact = hits.filter(({ score }) => score > 0.4);
            expect(exact.map(({ key, score }) => [key.pk, score])).toEqual(
              expected.map(({ document, score }) => [document.key.pk, score]),
            );
            expect(await own.count(query)).toBe(hits.length);
            expect(new Set(keysOf(hits)).size).toBe(hits.length);
            // Typos follow only if little is found, unless they are wanted.
            if (expected.length >= 10 && !wanted.typos) expect(exact).toEqual(hits);
          },
        ),
        { numRuns: numRuns(240) },
      );
    });

    test('orders by distance if `near` is given, page by page', async () => {
      await fc.assert(
        fc.asyncProperty(documents, fc.record({ text: phrase, ...filters }), point, async (given, wanted, near) => {
          const own = await filled(given.map(put));
          const hits = await all(own, typed(wanted.text, { scopes: wanted.scopes, area: wanted.area, near }), 3);
          const expected = scanNear(given, wanted, near);
          const exact = hits.slice(0, expected.length);
          expect(new Set(keysOf(exact))).toEqual(
            new Set(expected.map(({ document }) => document.key.pk.split('::')[2])),
          );
          const meters = exact.map(({ key }) => {
            const { bounds } = given.find((document) => document.key.pk === key.pk) ?? {};
            return distance(near, { lng: bounds?.west ?? 0, lat: bounds?.south ?? 0 });
          });
          for (const [index, { meters: expectedMeters }] of expected.entries()) {
            expect(Math.abs((meters[index] ?? NaN) - expectedMeters)).toBeLessThan(1);
          }
          expect(hits.map(({ score }) => score)).toEqual(hits.map(({ score }) => score).toSorted((a, b) => b - a));
        }),
        { numRuns: numRuns(160) },
      );
    });

    test.each([
      ['Sao Paolo', 'São Paulo'],
      ['Barcelna', 'Barcelona'],
      ['Barcelnoa', 'Barcelona'],
      ['barceln', 'Barcelona'],
      ['Nwe York', 'New York'],
      ['yorc', 'New York'],
      ['lodz', 'Łódź'],
      ['strasse', 'Straße'],
      ['עדן', 'עדן'],
      ['مكه', 'مكه'],
    ])('%s finds %s', async (text, name) => {
      const own = await filled(
        ['São Paulo', 'Barcelona', 'New York', 'Łódź', 'Straße', 'עדן', 'مكه', 'Oslo'].map((city) =>
          put(documentOf(city)),
        ),
      );
      expect(keysOf(await own.search(typed(text), { after: undefined, limit: 5 }))).toEqual([name]);
    });

    test('a small place is found despite a typo among many large ones with similar letters', async () => {
      const large = Array.from({ length: 700 }, (_, index) =>
        put(documentOf(`large ${index}`, { name: `Ponte ${index} Beach`, rank: 1_000_000 + index })),
      );
      const own = await filled([...large, put(documentOf('small', { name: 'Ponte Vedra Beach', rank: 5 }))]);
      const hits = await own.search(typed('ponte vdra beach'), { after: undefined, limit: 5 });
      expect(keysOf(hits)[0]).toBe('small');
    });

    test('a zone across the antimeridian, or up to it, is found from both sides', async () => {
      const across = documentOf('across', { bounds: { west: 170, south: 0, east: -170, north: 1 } });
      const upTo = documentOf('up to', { bounds: { west: 170, south: 0, east: 180, north: 1 } });
      const far = documentOf('far', { bounds: { west: 10, south: 0, east: 20, north: 1 } });
      const own = await filled([across, upTo, far].map(put));
      const found = async (west: number, east: number) =>
        keysOf(
          await all(own, { ...EVERYTHING, area: normalizeBounds('b', { west, south: 0, east, north: 1 }) }),
        ).toSorted((a, b) => (a < b ? -1 : 1));
      expect(await found(175, 176)).toEqual(['across', 'up to']);
      expect(await found(-176, -175)).toEqual(['across']);
      expect(await found(-180, -179)).toEqual(['across', 'up to']);
      expect(await found(-100, 100)).toEqual(['far']);
      expect(await found(-180, 180)).toEqual(['across', 'far', 'up to']);
    });

    test('a call ends with the reason of its signal, and the next one is served', async () => {
      const own = await filled(Array.from({ length: 300 }, (_, index) => put(documentOf(`Oslo ${index}`))));
      const stop = new AbortController();
      const calls = [
        own.count(EVERYTHING, stop.signal),
        own.search(typed('oslo'), { after: undefined, limit: 5 }, stop.signal),
      ];
      stop.abort(new Error('too late'));
      const ended = { status: 'rejected', reason: new Error('too late') };
      expect(await Promise.allSettled(calls)).toEqual([ended, ended]);
      expect(await own.count(typed('oslo'))).toBe(300);
    });

    test('no text is interpreted as query syntax', async () => {
      const own = await filled([put(documentOf('Oslo'))]);
      await fc.assert(
        fc.asyncProperty(
          fc.oneof(fc.string({ unit: 'binary' }), fc.stringMatching(/^[-"'*():^{}+ANDORTE \0]{0,20}$/)),
          async (text) => {
            const words = wordsOf(text);
            await own.search({ ...EVERYTHING, words }, { after: undefined, limit: 5 });
            expect(await own.count({ ...EVERYTHING, words })).toBeGreaterThanOrEqual(0);
          },
        ),
        { numRuns: numRuns(100) },
      );
    });

    /** The history of one item: its states in the order of the stream. */
    const history = fc.array(fc.nat({ max: 3 }), { maxLength: 12 }).map((lives) =>
      lives.flatMap((updates, life): SearchChange[] => {
        const incarnation = `life ${life}`;
        const states = Array.from({ length: updates + 1 }, (_, index) =>
          put(documentOf('one', { incarnation, version: index + 1, name: `${life}x${index}` })),
        );
        const isLast = life === lives.length - 1;
        return [...states, ...(isLast ? [] : [{ type: 'remove', key: documentOf('one').key, incarnation } as const])];
      }),
    );
    const lastName = (changes: readonly SearchChange[]) => {
      const last = changes.at(-1);
      return last?.type === 'put' ? last.document.name : undefined;
    };
    const isOnly = async (own: SearchEngine, expected: string | undefined) => {
      expect(await own.count(EVERYTHING)).toBe(expected === undefined ? 0 : 1);
      if (expected !== undefined) expect(await own.count(typed(expected))).toBe(1);
    };

    test('late and repeated records change nothing', async () => {
      await fc.assert(
        fc.asyncProperty(history, fc.array(fc.nat(), { maxLength: 8 }), fc.nat(), async (changes, again, cut) => {
          const seen = changes.slice(0, changes.length === 0 ? 0 : (cut % changes.length) + 1);
          const late = seen.length === 0 ? [] : again.flatMap((index) => seen[index % seen.length] ?? []);
          const own = await filled([...seen, ...late]);
          await isOnly(own, lastName(seen));
        }),
        { numRuns: numRuns(400) },
      );
    });

    test('an item read from the table ends in the state of its last record, however old the first is', async () => {
      await fc.assert(
        fc.asyncProperty(history, fc.nat(), async (changes, at) => {
          const read = changes[changes.length === 0 ? 0 : at % changes.length];
          const own = await filled([...(read?.type === 'put' ? [read] : []), ...changes]);
          await isOnly(own, lastName(changes));
        }),
        { numRuns: numRuns(400) },
      );
    });

    test('the same state updates the rank, an older one does not', async () => {
      const own = await filled([
        put(documentOf('a', { name: 'Oslo', rank: 5, version: 2 })),
        put(documentOf('b', { name: 'Oslo', rank: 4, version: 2 })),
      ]);
      await own.write([put(documentOf('b', { name: 'Oslo', rank: 9, version: 1 }))], 'older');
      expect(keysOf(await all(own, typed('oslo')))).toEqual(['a', 'b']);
      await own.write([put(documentOf('b', { name: 'Oslo', rank: 6, version: 2 }))], 'same');
      expect(keysOf(await all(own, typed('oslo')))).toEqual(['b', 'a']);
    });

    test('a change replaces the former document, and `clear` removes everything', async () => {
      const own = await filled([
        put(documentOf('a', { name: 'Oslo', rank: 5 })),
        put(documentOf('b', { name: 'Oslo', rank: 4 })),
      ]);
      expect(keysOf(await all(own, typed('oslo')))).toEqual(['a', 'b']);
      await own.write([put(documentOf('b', { name: 'Oslo Fjord', rank: 6, version: 2 }))], 'later');
      expect(keysOf(await all(own, typed('osl')))).toEqual(['b', 'a']);
      expect(keysOf(await all(own, typed('oslo')))).toEqual(['a', 'b']);
      expect(await own.checkpoint()).toBe('later');
      await own.clear();
      expect(await own.count(EVERYTHING)).toBe(0);
      expect(await own.checkpoint()).toBeUndefined();
    });
  });
}
