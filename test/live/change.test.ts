import fc from 'fast-check';
import { expect, test } from 'vitest';

import { areaContains, normalizeBounds, type Area } from '../../src/geo/bounds.js';
import { createKeyspace } from '../../src/keys/keyspace.js';
import { changeKind, eventBytes, eventOf, markerChange } from '../../src/live/change.js';
import { Watchers } from '../../src/live/listeners.js';
import type { Collection } from '../../src/model/collection.js';
import { readFilter } from '../../src/read/filter.js';
import type { WireImage } from '../../src/stream/change.js';
import { anArea, aPoint, pointsNear } from '../geo/arbitraries.js';
import { markerRecord } from './records.js';

const keys = createKeyspace('readable');
const parks = { key: 'parks', code: null, mapProperties: [] as readonly string[] } as Collection;
/** Positions at the edges of an area and anywhere; undefined if there was no marker. */
const somewhere = (area: Area) => fc.option(fc.oneof(aPoint, pointsNear(area)), { nil: undefined });
const anAreaWithChange = anArea.chain((area) =>
  fc.record({ area: fc.constant(area), before: somewhere(area), after: somewhere(area) }),
);

test('the kind of a change follows from the positions before and after, for any bounding box', () => {
  fc.assert(
    fc.property(anAreaWithChange, ({ area, before, after }) => {
      const [was, is] = [before, after].map((point) => point !== undefined && areaContains(area, point));
      const apart = Math.abs((before?.lng ?? 0) - (after?.lng ?? 0));
      const same = before?.lat === after?.lat && (apart === 0 || apart === 360);
      const kind = changeKind({ before, after }, area);
      if (was !== true && is !== true) expect(kind).toBeUndefined();
      else if (was !== true) expect(kind).toBe(before === undefined ? 'CREATED' : 'ENTERED');
      else if (is !== true) expect(kind).toBe(after === undefined ? 'DELETED' : 'LEFT');
      else expect(kind).toBe(same ? 'UPDATED' : 'MOVED');
      // Without an area there are no edges to cross.
      const whole = changeKind({ before, after });
      if (before === undefined) expect(whole).toBe(after === undefined ? undefined : 'CREATED');
      else if (after === undefined) expect(whole).toBe('DELETED');
      else expect(whole).toBe(same ? 'UPDATED' : 'MOVED');
    }),
  );
});

test('the candidates for a change include every subscriber that it concerns, and few others with small bounding boxes', () => {
  fc.assert(
    fc.property(fc.array(anAreaWithChange, { maxLength: 20 }), (all) => {
      const watchers = new Watchers<number>();
      all.forEach(({ area }, index) => watchers.add(index, area));
      for (const event of all) {
        const near = watchers.near(event);
        all.forEach(({ area }, index) => {
          if (changeKind(event, area) !== undefined) expect(near).toContain(index);
        });
      }
      all.forEach(({ area }, index) => watchers.remove(index, area));
      expect(watchers.isEmpty).toBe(true);
      for (const event of all) expect(watchers.near(event).size).toBe(0);
    }),
  );
  const thousand = new Watchers<number>();
  for (let n = 0; n < 1_000; n += 1) {
    const west = (n % 350) - 180;
    thousand.add(n, normalizeBounds('bounds', { west, south: (n % 170) - 90, east: west + 1, north: (n % 170) - 89 }));
  }
  expect(thousand.near({ before: { lng: 10.5, lat: 20.5 }, after: { lng: 11.5, lat: 20.5 } }).size).toBeLessThan(10);
});

test('an item that is not a marker, or has no position, is ignored; an item that gets a position is created', () => {
  const record = markerRecord(keys, { sequence: '1', key: 'a', after: [1, 2] });
  expect(eventOf(keys, { ...record, after: { ...record.after, lng: { S: 'far' } } })).toBeUndefined();
  expect(eventOf(keys, { ...record, keys: { pk: { S: 'collection' }, sk: { S: 'parks' } } })).toBeUndefined();
  const mended = eventOf(keys, { ...record, before: { ...record.after, lat: { N: '91' } } });
  expect(mended).toMatchObject({
    type: 'marker',
    scope: 'parks',
    key: 'a',
    before: undefined,
    after: { lng: 1, lat: 2 },
  });
});

test('a change carries the marker after the change and does not modify its image, including empty maps of DynamoDB Local', () => {
  const record = markerRecord(keys, {
    sequence: '1',
    key: 'a',
    before: [1, 2],
    after: [3, 4],
    properties: { color: 'red' },
  });
  const after = { ...record.after, version: { N: '2' }, m: { M: { color: { S: 'red' }, empty: {} } } };
  const event = eventOf(keys, { ...record, at: 1_795_000_000_000, after });
  if (event?.type !== 'marker') throw new Error('no event');
  const change = markerChange(keys, event, parks);
  expect(change).toMatchObject({
    kind: 'MOVED',
    id: 'marker::parks::a',
    previous: { lng: 1, lat: 2 },
    at: '2026-11-18T11:06:40.000Z',
  });
  expect(change?.marker).toMatchObject({
    key: 'a',
    position: { lng: 3, lat: 4 },
    properties: { color: 'red', empty: {} },
  });
  expect(markerChange(keys, event, parks)?.marker).toBe(change?.marker);
  expect(after.m).toEqual({ M: { color: { S: 'red' }, empty: {} } });
});

test('a change of the geo index alone is no event, and any other change is one', () => {
  const { after: image = {}, ...record } = markerRecord(keys, { sequence: '1', key: 'a', after: [1, 2] });
  const before = { ...image, version: { N: '3' }, gpkA: { S: 'marker::parks::s0' } };
  const { gpkA: _, ...left } = before;
  const entered = { ...left, gpkB: { S: 'marker::parks::s' } };
  expect(eventOf(keys, { ...record, before, after: entered })).toBeUndefined();
  const by = [{ version: { N: '4' } }, { name: { S: 'x' } }, { lng: { N: '1.5' } }];
  for (const change of by) {
    expect(eventOf(keys, { ...record, before, after: { ...entered, ...change } })).toMatchObject({ type: 'marker' });
  }
  expect(eventOf(keys, { ...record, before: undefined, after: entered })).toBeDefined();
  expect(eventOf(keys, { ...record, before: entered, after: undefined })).toBeDefined();
});

const northRows: Collection = {
  ...parks,
  grant: {
    rows: readFilter({ properties: [{ name: 'fleet', eq: 'north' }] }),
    hidden: new Set(['margin']),
    cursorSecret: new Uint8Array(32),
  },
};
const aState = (area: Area) =>
  fc.option(fc.record({ at: somewhere(area), fleet: fc.constantFrom('north', 'south') }), { nil: undefined });

test('under rows, a change tells what it would of a collection with only these, and nothing of a marker outside', () => {
  const aChange = anArea.chain((area) =>
    fc.record({ area: fc.option(fc.constant(area), { nil: undefined }), before: aState(area), after: aState(area) }),
  );
  fc.assert(
    fc.property(aChange, fc.boolean(), fc.boolean(), ({ area, before, after }, isBase, isOther) => {
      const eventOfStates = (was: typeof before, is: typeof after) => {
        const record = markerRecord(keys, {
          sequence: '1',
          key: 'a',
          former: { fleet: was?.fleet ?? '', margin: 'secret' },
          properties: { fleet: is?.fleet ?? '', margin: 'secret' },
          ...(was?.at && { before: [was.at.lng, was.at.lat] }),
          ...(is?.at && { after: [is.at.lng, is.at.lat] }),
        });
        const versioned = (image: WireImage | undefined, version: string) =>
          image && isBase ? { ...image, version: { N: version } } : image;
        const event = eventOf(keys, {
          ...record,
          before: versioned(record.before, '1'),
          after: versioned(record.after && (isOther ? { ...record.after, name: { S: 'x' } } : record.after), '2'),
        });
        if (event?.type !== 'marker') return undefined;
        return event;
      };
      const event = eventOfStates(before, after);
      const inRows = (state: typeof before) => (state?.fleet === 'north' ? state : undefined);
      const own = eventOfStates(inRows(before), inRows(after));
      const expected = own && markerChange(keys, own, parks, area);
      const change = event && markerChange(keys, event, northRows, area);
      // A marker that others know before or after is not created or deleted.
      const exists = before?.at !== undefined && after?.at !== undefined;
      const kinds = { CREATED: 'ENTERED', DELETED: 'LEFT' } as Readonly<Record<string, string>>;
      const kind = expected && (exists ? (kinds[expected.kind] ?? expected.kind) : expected.kind);
      expect(change?.kind).toBe(kind);
      expect(change?.previous).toEqual(expected?.previous);
      expect(change?.marker?.position).toEqual(expected?.marker?.position);
      expect(JSON.stringify(change ?? null)).not.toMatch(/south|secret/);
    }),
    { numRuns: 150 },
  );
});

test('an event keeps of the former image only what rules test, and only if that has changed', () => {
  const formerOf = (input: Partial<Parameters<typeof markerRecord>[1]>, name = 'x') => {
    const record = markerRecord(keys, { sequence: '1', key: 'a', before: [1, 2], properties: { a: 'b' }, ...input });
    const before = { ...record.before, name: { S: 'y'.repeat(1_000) }, updatedAt: { S: 'then' } };
    const event = eventOf(keys, { ...record, before, after: record.after && { ...record.after, name: { S: name } } });
    if (event?.type !== 'marker') throw new Error('no event');
    return { former: event.former, bytes: eventBytes(event) };
  };
  const moved = formerOf({ after: [3, 4] });
  const changed = formerOf({ after: [3, 4], former: { a: 'c' } });
  expect(moved.former).toBeUndefined();
  expect(Object.keys(changed.former ?? {})).toEqual(['pk', 'sk', 'lng', 'lat', 'm', 'mc']);
  expect(changed.bytes).toBeGreaterThan(moved.bytes + 100);
  expect(formerOf({}).former).toMatchObject({ m: { M: { a: { S: 'b' } } } });
});
