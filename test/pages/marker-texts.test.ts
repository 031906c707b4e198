import fc from 'fast-check';
import { expect, test } from 'vitest';

import type { MapMarker } from '../../src/model/marker.js';
import { orderedMarker } from '../../src/pages/ordered-marker.js';
import { MarkerTexts, type MarkerFormat } from '../../src/read/from-pages/marker-texts.js';
import { entriesOfColumns } from '../../src/store/page/page-data.js';
import { columnsOf } from '../support/page-services.js';
import { markerAt, SCOPE } from './support.js';

const turn = () => Promise.resolve();

/** How often each marker was written. */
function counting() {
  const written: string[] = [];
  const format = (name: string, withProperties: boolean): MarkerFormat => ({
    name,
    lacks: (marker) => withProperties && !marker.complete,
    write({ key, mapProperties }, properties = mapProperties) {
      written.push(key);
      return JSON.stringify(withProperties ? { name, key, properties } : { name, key });
    },
  });
  return { written, format };
}

const pages = Array.from({ length: 6 }, (_, n) => {
  const markers = Array.from({ length: 10 }, (_none, index) =>
    orderedMarker({
      ...markerAt(`ł${n}-${index}`, n, index, 1),
      mapProperties: { size: index, text: '漢"\u0001' },
      // One page has some of each.
      complete: n !== 3 || index % 2 === 0,
    }),
  );
  return columnsOf(markers);
});
const own = markerAt('own', 3, 3, 2);

test('any markers of pages and others are written as one by one, and while they are in memory, once', async () => {
  const subset = fc.array(fc.tuple(fc.nat(pages.length), fc.nat(9), fc.integer({ min: 1, max: 10 })), {
    maxLength: 12,
  });
  const answer = fc.record({ runs: subset, withProperties: fc.boolean(), name: fc.constantFrom('a', 'b') });
  const bytes = fc.constantFrom(0, 3_000, 1_000_000);
  await fc.assert(
    fc.asyncProperty(bytes, fc.array(answer, { maxLength: 8 }), async (maxBytes, answers) => {
      const texts = new MarkerTexts(maxBytes);
      for (const { runs, withProperties, name } of answers) {
        const markers = runs.flatMap(([page, from, length]): readonly MapMarker[] => {
          const columns = pages[page];
          return columns
            ? entriesOfColumns(columns, SCOPE)
                .slice(from, from + length)
                .map(({ marker }) => marker)
            : [own];
        });
        const format = counting().format(`${name} ${withProperties}`, withProperties);
        const read = ({ key }: MapMarker) => Promise.resolve({ read: key });
        const expected = markers.map(
          (marker) =>
            JSON.parse(format.write(marker, format.lacks(marker) ? { read: marker.key } : undefined)) as unknown,
        );
        const pieces = await texts.join(markers, format, turn, read);
        expect(JSON.parse(`[${Buffer.concat(pieces).toString()}]`)).toEqual(expected);
      }
    }),
  );
});

test('a page is written once, a page that has been written again anew', async () => {
  const texts = new MarkerTexts(1_000_000);
  const { written, format } = counting();
  const markersOf = (columns = pages[0]) =>
    (columns ? entriesOfColumns(columns, SCOPE) : []).map(({ marker }) => marker);
  await texts.join(markersOf().slice(2, 5), format('a', true), turn);
  await texts.join(markersOf(), format('a', true), turn);
  expect(written).toHaveLength(10);
  await texts.join(markersOf(), format('b', true), turn);
  expect(written).toHaveLength(20);
  const again = columnsOf(markersOf().map((marker) => orderedMarker(marker)));
  await texts.join(markersOf(again), format('a', true), turn);
  expect(written).toHaveLength(30);
});
