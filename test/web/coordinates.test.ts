import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { readCoordinates } from '../../web/map/search/coordinates.js';
import { positionText } from '../../web/map/text/position-text.js';

const positions = (text: string) => readCoordinates(text).map(({ position: { lat, lng } }) => [lat, lng]);

const position = fc.record({
  lat: fc.integer({ min: -9_000_000, max: 9_000_000 }).map((each) => each / 100_000),
  lng: fc.integer({ min: -18_000_000, max: 18_000_000 }).map((each) => each / 100_000),
});

/** Degrees, minutes and seconds with a letter. */
function sexagesimal(
  degrees: number,
  [positive, negative]: readonly [string, string],
  marks: readonly string[],
): string {
  const seconds = Math.round(Math.abs(degrees) * 3_600);
  const parts = [Math.floor(seconds / 3_600), Math.floor(seconds / 60) % 60, seconds % 60];
  return `${parts.map((part, index) => `${part}${marks[index]}`).join('')}${degrees < 0 ? negative : positive}`;
}

describe('coordinates are read as written', () => {
  const decimal = ({ lat, lng }: { lat: number; lng: number }) => [
    `${lat}, ${lng}`,
    `${lat},${lng}`,
    `${lat} ${lng}`,
    `(${lat}; ${lng})`,
    `geo:${lat},${lng};u=35`,
    `${String(lat).replace('.', ',')} ${String(lng).replace('.', ',')}`,
    `POINT(${lng} ${lat})`,
    `[${lng}, ${lat}]`,
    `${Math.abs(lat)}${lat < 0 ? 's' : 'n'} ${Math.abs(lng)}${lng < 0 ? 'w' : 'e'}`,
    `${lng < 0 ? 'W' : 'E'} ${Math.abs(lng)}° ${lat < 0 ? 'S' : 'N'} ${Math.abs(lat)}°`,
    positionText({ lat, lng }),
  ];

  test('in decimal degrees', () => {
    fc.assert(
      fc.property(position, ({ lat, lng }) => {
        for (const text of decimal({ lat, lng }))
          expect([text, positions(text)[0]]).toEqual([text, [lat + 0, lng + 0]]);
      }),
    );
  });

  test('in degrees, minutes and seconds', () => {
    fc.assert(
      fc.property(
        position,
        fc.constantFrom(['°', "'", '"'], ['° ', '′ ', '″ '], [' ', ' ', ' '], [':', ':', '']),
        (given, marks) => {
          // prettier-ignore
          const text = `${sexagesimal(given.lat, ['N', 'S'], marks)} ${sexagesimal(given.lng, ['E', 'W'], marks)}`;
          const [found] = readCoordinates(text);
          expect([text, Math.abs((found?.position.lat ?? 999) - given.lat) < 1 / 3_600]).toEqual([text, true]);
          expect([text, Math.abs((found?.position.lng ?? 999) - given.lng) < 1 / 3_600]).toEqual([text, true]);
        },
      ),
    );
  });

  test('in the spellings of books and websites', () => {
    const vienna = [48.2, 16 + 22 / 60];
    for (const text of [
      "48°12'N 16°22'E",
      'N48°12′ E16°22′',
      "48° 12' N, 16° 22' E",
      "16°22'E 48°12'N",
      '48 12 N 16 22 E',
    ])
      expect([text, positions(text)]).toEqual([text, [vienna]]);
    expect(positions('48,2, 16,5')).toEqual([[48.2, 16.5], [16.5, 48.2]]); // prettier-ignore
    expect(positions('0 0,00001')[0]).toEqual([0, 0.00001]);
    expect(positions('48,2 16')[0]).toEqual([48.2, 16]);
    expect(positions('48 12,16 22')[0]).toEqual([48.2, 16 + 22 / 60]);
    expect(positions('\u221233.86 151.2')).toEqual([[-33.86, 151.2]]);
  });
});

test('both orders are offered if either number may be the latitude, likelier first', () => {
  expect(readCoordinates('48.2, 16.37')).toEqual([
    { position: { lat: 48.2, lng: 16.37 }, latitude: 'first' },
    { position: { lat: 16.37, lng: 48.2 }, latitude: 'second' },
  ]);
  expect(positions('[16.37, 48.2]')).toEqual([[48.2, 16.37], [16.37, 48.2]]); // prettier-ignore
  expect(positions('139.69, 35.68')).toEqual([[35.68, 139.69]]);
  expect(readCoordinates('48.2N 16.37E')).toEqual([{ position: { lat: 48.2, lng: 16.37 }, latitude: undefined }]);
});

test('other texts are not positions', () => {
  const others = ['', '48', 'Paris', '48.2, 16.37, 5', '91, 181', '48.2N 16.37', '48.2N 16.37S', "48°61'N 16°E", '-48N 16E', '48.5°30\'N 16°E', '1.2.3 4', '12345', 'POINT(200 10)', 'geo:10,200', 'N48N 16E', 'Room 12, 13']; // prettier-ignore
  for (const text of others) expect([text, positions(text)]).toEqual([text, []]);
  fc.assert(fc.property(fc.string({ unit: 'binary' }), (text) => void readCoordinates(text)));
});
