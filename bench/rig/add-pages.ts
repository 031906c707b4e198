import { GEOHASH_ALPHABET } from '../../src/geo/geohash.js';
import { compareBytes } from '../../src/keys/byte-order.js';
import { groupBy } from '../../src/loaders/group.js';
import type { Collection } from '../../src/model/collection.js';
import { orderedMarker } from '../../src/pages/ordered-marker.js';
import type { Database } from '../../src/store/database.js';
import { mapMarkerFromIndex, newMarkerItem } from '../../src/store/marker/marker-item.js';
import { PACKING } from '../../src/store/page/page-data.js';
import { buildPages } from '../../src/stream/recount/pages.js';
import { openRecount } from '../../src/stream/recount/reads.js';
import { GENERATION } from '../../test/support/page-services.js';
import type { BenchMarker } from './points.js';

const CREATED = '2026-11-21T00:00:00.000Z';

/** Builds the pages of a collection, like a recount. */
export async function addPages(db: Database, collection: Collection, markers: readonly BenchMarker[]): Promise<void> {
  const scope = db.keys.scope(collection);
  const entries = markers.flatMap((one) => {
    const marker = mapMarkerFromIndex(db.keys, newMarkerItem(db, collection, one, CREATED), '');
    return marker ? [orderedMarker(marker)] : [];
  });
  const partitions = groupBy(
    entries.sort((a, b) => compareBytes(a.position, b.position)),
    ({ position }) => position.charAt(0),
  );
  async function* sorted() {
    for (const partition of GEOHASH_ALPHABET) yield { scope, partition, entries: partitions.get(partition) ?? [] };
  }
  const { pages } = openRecount(db, 'bench');
  await buildPages({ pages, pack: PACKING, generation: GENERATION, round: 1, retries: { attempts: 1 } }, sorted());
}
