import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { createKeyspace } from '../../src/keys/keyspace.js';

const GEOHASH = 'u3k5x2m9qz';
/** Codes are also keys of collections. */
const scope = fc.stringMatching(/^[a-z0-9]{2}$/);
const key = fc.oneof(fc.string({ minLength: 1, maxLength: 12 }), fc.constantFrom('a::b', '#', '::', 'Ce#u3', 'a:'));

describe.each(['readable', 'compact'] as const)('a partition key in %s style', (style) => {
  const keys = createKeyspace(style);

  test('names its entity and parts', () => {
    fc.assert(
      fc.property(
        scope,
        key,
        fc.integer({ min: 0, max: 6 }),
        fc.constantFrom(1, 8),
        (of, name, length, writeShards) => {
          const entry = {
            scope: of,
            key: name,
            geohash: GEOHASH,
            prefixLength: length,
            writeShards,
            geoSlot: 'B',
          } as const;
          const { gpkB = '' } = keys.geoEntry(entry);
          const geo = keys.namePartition('geoB', gpkB);
          expect(geo).toMatchObject({ entity: 'marker', parts: { scope: of, prefix: GEOHASH.slice(0, length) } });
          expect(geo?.parts['shard']).toHaveLength(writeShards > 1 ? 1 : 0);

          const table = (pk: string) => keys.namePartition(null, pk);
          expect(table(keys.marker(of, name).pk)).toEqual({ entity: 'marker', parts: { scope: of, key: name } });
          const { pk } = keys.reading({ scope: of, key: name, bucket: '2026-11-21' }, '2026-11-21T10:00:00.000Z');
          expect(table(pk)).toEqual({
            entity: 'bucketedReading',
            parts: { scope: of, key: name, bucket: '2026-11-21' },
          });
          expect(table(keys.page(of, '7', GEOHASH).pk)?.entity).toBe('page');
          expect(table(keys.pageDirectory(of, '7', GEOHASH).pk)?.entity).toBe('pageDirectory');
          expect(table(keys.zonesPartition(of))).toEqual({ entity: 'zone', parts: { scope: of } });
          expect(table(keys.placesPartition(of, [name]))).toMatchObject({ entity: 'places', parts: { path: [name] } });
          expect(table(keys.cell(of, GEOHASH.slice(0, length)).pk)).toMatchObject({
            entity: 'cell',
            parts: { scope: of },
          });
        },
      ),
    );
  });

  test('of no entity names nothing', () => {
    expect(keys.namePartition(null, '')).toBeUndefined();
    expect(keys.namePartition('geoA', 'something else')).toBeUndefined();
    expect(keys.namePartition('of another table', 'marker::a::u3')).toBeUndefined();
  });
});
