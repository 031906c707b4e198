import { createHash } from 'node:crypto';

import { canonicalLng, middleOf, type Bounds } from '../geo/bounds.js';
import { documentId, type Key } from '../keys/document-id.js';
import type { SearchChange, SearchDocument } from './engine.js';
import { LONGEST_FOLDED } from './score.js';
import { trigramsOf } from './typos.js';
import { wordsOf } from './words.js';

/**
 * Deleted incarnations are remembered for longer than the stream keeps records, so that a late record does not restore
 * one.
 */
export const GONE_KEPT_MS = 48 * 3_600_000;
/** How often an index forgets older ones. */
export const PURGE_EVERY_MS = 3_600_000;
/** OpenSearch rejects a whole request if one ID is longer. */
const ID_BYTES = 512;
/** The rank of documents without one. */
const LAST_RANK = -Number.MAX_VALUE;

interface Range {
  readonly gte: number;
  readonly lte: number;
}

/** A document as stored in the index. */
export interface Stored {
  readonly id: string;
  readonly pk: string;
  readonly sk: string;
  /** Recently deleted incarnations under this key. */
  readonly gone: readonly { readonly incarnation: string; readonly at: number }[];
  /** When the item was deleted, in milliseconds since 1970; such a document has no other fields than those above. */
  readonly deletedAt?: number;
  readonly incarnation?: string;
  readonly version?: number;
  readonly scope?: string;
  readonly folded?: string;
  readonly name?: string;
  readonly text?: string;
  readonly trigrams?: readonly string[];
  readonly rank?: number;
  readonly lng?: readonly Range[];
  readonly lat?: Range;
  readonly location?: { readonly lon: number; readonly lat: number };
  readonly shape?: unknown;
}

/** The ID of an item's document: `<pk>#<sk>`, or its hash if that is longer than OpenSearch allows. */
export function idOf(key: Key): string {
  const id = documentId(key);
  return Buffer.byteLength(id) <= ID_BYTES ? id : createHash('sha256').update(id).digest('hex');
}

/** A bounding box as ranges, with the antimeridian only at -180. */
function rangesOf({ west, south, east, north }: Bounds) {
  const from = canonicalLng(west);
  const to = west === -180 ? east : canonicalLng(east);
  const lng =
    from <= to
      ? [{ gte: from, lte: to }]
      : [
          { gte: from, lte: 180 },
          { gte: -180, lte: to },
        ];
  return { lng, lat: { gte: south, lte: north } };
}

function placeOf(bounds: Bounds) {
  const { lng, lat } = middleOf(bounds);
  return { ...rangesOf(bounds), location: { lon: lng, lat } };
}

const rankOf = ({ rank }: SearchDocument) => (rank === undefined || !Number.isFinite(rank) ? LAST_RANK : rank);

/** Whether a document in the index has the current state of an item. */
export function isSameState(stored: Stored | undefined, document: SearchDocument): boolean {
  const { incarnation, version } = document;
  return stored?.incarnation === incarnation && stored.version === version && stored.rank === rankOf(document);
}

function storedDocument(document: SearchDocument, shape: unknown, gone: Stored['gone']): Stored {
  const { key, scope, incarnation, version, bounds } = document;
  const words = wordsOf(document.name);
  const folded = words.join(' ').slice(0, LONGEST_FOLDED);
  return {
    id: idOf(key),
    ...key,
    gone,
    incarnation,
    version,
    scope,
    folded,
    name: words.join(' '),
    text: [...words, ...wordsOf(document.rest)].join(' '),
    trigrams: folded === '' ? [] : trigramsOf(folded, LONGEST_FOLDED),
    rank: rankOf(document),
    ...(bounds ? placeOf(bounds) : {}),
    ...(shape === undefined ? {} : { shape }),
  };
}

/** A change, with a zone's geometry as GeoJSON. */
export type ShapedChange = SearchChange & { readonly shape?: unknown };

/**
 * Applies a change to a document; returns the same document if nothing changes. Of two states of one incarnation the
 * higher version wins; of two incarnations the one that is not known to be deleted.
 */
function changed(known: Stored | undefined, change: ShapedChange, now: number): Stored | undefined {
  const gone = (known?.gone ?? []).filter(({ at }) => at > now - GONE_KEPT_MS);
  const isGone = (incarnation: string) => gone.some((one) => one.incarnation === incarnation);
  const live = known?.deletedAt === undefined ? known : undefined;
  if (change.type === 'put') {
    const { document, shape } = change;
    const { incarnation, version } = document;
    if (incarnation !== '') {
      const ahead = live?.incarnation === incarnation ? (live.version ?? 0) - version : -1;
      const hasShape = shape === undefined || live?.shape !== undefined;
      if (version > 0 && (ahead > 0 || (ahead === 0 && hasShape && live?.rank === rankOf(document)))) return known;
      if (live?.incarnation !== incarnation && isGone(incarnation)) return known;
    }
    return storedDocument(document, shape, gone);
  }
  const { key, incarnation } = change;
  const isOther = live !== undefined && incarnation !== '' && live.incarnation !== incarnation;
  if (incarnation === '' ? live === undefined : isGone(incarnation) && (isOther || live === undefined)) return known;
  const noted = incarnation === '' || isGone(incarnation) ? gone : [...gone, { incarnation, at: now }];
  return isOther ? { ...live, gone: noted } : { id: idOf(key), ...key, gone: noted, deletedAt: now };
}

/** Applies changes, in order, to a document; returns the same document if nothing changes. */
export function afterChanges(
  known: Stored | undefined,
  changes: readonly ShapedChange[],
  now: number,
): Stored | undefined {
  return changes.reduce((document, change) => changed(document, change, now), known);
}
