import { limitExceeded } from '../../errors.js';
import { ringRelation } from '../../geo/circle.js';
import { coverShape } from '../../geo/cover.js';
import type { MapContext } from '../context.js';
import { findMarkers } from '../markers/find-markers.js';
import { type NearQuery, type NearResult, compareNear } from './by-distance.js';
import { type ScanSource, walkRings } from './scan.js';

/** Number of Z-order ranges into which a ring is cut before they are joined. */
const FINENESS = 512;
/** Width of the first ring in meters, and growth factor of further ones. */
const FIRST_RING = 1_500;
const GROWTH = 3;

/** Reads markers of a collection in index order, and the current base items of those kept by earlier pages. */
function sourceOf(context: MapContext, { collection, filter, budget }: NearQuery): ScanSource {
  return {
    async read({ center, from, upTo }, after, accept) {
      const cover = coverShape(ringRelation(center, from.distance, upTo.distance), FINENESS);
      const query = { collection, cover, budget, accept, filter, wanted: Infinity };
      const result = await findMarkers(context, after === '' ? query : { ...query, after });
      return { found: result.found, scanned: result.ended ? null : (result.resumeAfter ?? after) };
    },
    loads: () => Infinity,
    identityOf: ({ key }) => key,
    async load(pending) {
      const bases = await Promise.all(pending.map(({ key }) => context.loaders.marker({ collection, key })));
      return bases.filter((base) => base !== null).filter((base) => filter?.passes(base) ?? true);
    },
  };
}

/**
 * Reads markers by distance ring by ring, in geo index order within a ring. Throws LIMIT_EXCEEDED if the budget does
 * not even cover one prefix.
 */
export async function walkIndex(context: MapContext, query: NearQuery): Promise<NearResult> {
  const { cursor, collection } = query;
  const source = sourceOf(context, query);
  const { found, rest } = await walkRings({ ...query, source, width: FIRST_RING, growth: GROWTH });
  const isStuck = rest?.scan && rest.scan.scanned === (cursor.scan?.scanned ?? '');
  if (isStuck && compareNear(rest.resumeAfter, cursor.resumeAfter) === 0) {
    throw limitExceeded(
      'within',
      `in a collection of ${collection.writeShards} write shards, each of which takes a Query call`,
      `${context.limits.rangesPerPage} Query calls`,
      'raise CELLPORT_MAX_RANGES',
    );
  }
  return { found, rest };
}
