import { limitExceeded } from '../../errors.js';
import { HALF_AROUND, ringRelation } from '../../geo/circle.js';
import { coverShape } from '../../geo/cover.js';
import type { MapContext } from '../context.js';
import { findMarkers } from '../markers/find-markers.js';
import { BEGIN, type NearCursor, type NearMarker, type RingScan, compareNear } from './by-distance.js';
import type { NearQuery } from './rings.js';
import { type ScanSource, endedAt, scanOn } from './scan.js';

/** Ranges of Z-order that a ring is cut into before they are joined. */
const FINENESS = 512;

/** Markers in the index of a collection, and the current base items of those kept by earlier pages. */
function sourceOf(context: MapContext, { collection, filter, budget }: NearQuery): ScanSource {
  return {
    async read({ center, from, upTo }, after, accept) {
      const relation = ringRelation(center, from.distance, upTo.distance);
      const cover = coverShape(relation, FINENESS);
      const query = { collection, cover, budget, filter, wanted: Infinity, after: after === '' ? undefined : after };
      const result = await findMarkers(context, { ...query, accept: ({ marker }) => accept(marker) });
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

/** Continues the scan of a ring that takes more than a page may read. Throws LIMIT_EXCEEDED if a page cannot even read one prefix. */
export async function scanRing(
  context: MapContext,
  query: NearQuery,
  scan: RingScan,
  first: number,
): Promise<{ readonly found: readonly NearMarker[]; readonly rest: NearCursor | undefined }> {
  const { center, collection } = query;
  const from = query.after ?? BEGIN;
  const end = { distance: Math.min(query.radius, HALF_AROUND), key: null };
  if (compareNear(from, end) >= 0) return { found: [], rest: undefined };
  const source = sourceOf(context, query);
  const { found, resumeAfter, rest } = await scanOn({ center, from }, endedAt(scan, end), first, source);
  if (rest && rest.scanned === scan.scanned && rest.scanned !== null) {
    throw limitExceeded(
      'within',
      `in a collection of ${collection.writeShards} write shards, each of which takes a Query call`,
      `${context.limits.rangesPerPage} Query calls`,
      'raise CELLPORT_MAX_RANGES',
    );
  }
  const isOpen = rest !== undefined || compareNear(resumeAfter, end) < 0;
  return { found, rest: isOpen ? { resumeAfter, scan: rest } : undefined };
}
