import { limitExceeded } from '../../errors.js';
import { HALF_AROUND, circleArea, ringRelation } from '../../geo/circle.js';
import type { Bounds } from '../../geo/bounds.js';
import { coverRegion } from '../../geo/cover.js';
import { BEGIN, type NearMarker, type Sweep, type Told, compareReached } from './by-distance.js';
import type { MapContext } from '../context.js';
import { FINEST_STORED } from '../cells/known-counts.js';
import type { OutwardQuestion } from './outward.js';
import { regionSource } from '../markers/sources.js';
import { type SweepSource, endedAt, sweepOn } from './sweep.js';
import { walk } from '../markers/walk.js';

/** Ranges of Z-order that a ring is cut into before they are joined. */
const FINENESS = 512;

/** Markers in the index of a collection, and what former pages kept of them as their base items are now. */
function sourceOf(context: MapContext, { collection, filter }: OutwardQuestion): SweepSource {
  return {
    async scan({ center, from, upTo }, seen, accept) {
      const relation = ringRelation(center, from.distance, upTo.distance);
      const region = {
        area: circleArea(center, upTo.distance),
        cover: coverRegion(relation, FINENESS),
        overlaps: (cell: Bounds) => relation(cell) !== 'outside',
      };
      const source = await regionSource(context, collection, region, FINEST_STORED);
      const after = seen === '' ? undefined : seen;
      const { found, cutAt, ended } = await walk(context, {
        collection,
        source,
        after,
        accept: ({ marker }) => accept(marker),
        filter,
        wanted: Infinity,
      });
      return { found, seen: ended ? null : (cutAt ?? seen) };
    },
    loads: () => Infinity,
    identityOf: ({ key }) => key,
    async load(kept) {
      const bases = await Promise.all(kept.map(({ key }) => context.loaders.marker({ collection, key })));
      return bases.filter((base) => base !== null).filter((base) => filter?.passes(base) ?? true);
    },
  };
}

/**
 * Looks on through a ring that takes more than a page may. Throws LIMIT_EXCEEDED where a page cannot even read one prefix.
 */
export async function sweepRing(
  context: MapContext,
  question: OutwardQuestion,
  sweep: Sweep,
  first: number,
): Promise<{ readonly found: readonly NearMarker[]; readonly rest: Told | undefined }> {
  const { center, collection } = question;
  const from = question.after ?? BEGIN;
  const radius = Math.min(question.radius, HALF_AROUND);
  const end = { distance: radius, key: null };
  if (compareReached(from, end) >= 0) return { found: [], rest: undefined };
  const source = sourceOf(context, question);
  const { told, reached, rest } = await sweepOn({ center, from }, endedAt(sweep, end), first, source);
  if (rest && rest.seen === sweep.seen && rest.seen !== null) {
    throw limitExceeded(
      'within',
      `in a collection of ${collection.writeShards} write shards, each of which takes a Query call`,
      `${context.limits.rangesPerPage} Query calls`,
      'raise CELLPORT_MAX_RANGES',
    );
  }
  const isOpen = rest !== undefined || compareReached(reached, end) < 0;
  return { found: told, rest: isOpen ? { reached, sweep: rest } : undefined };
}
