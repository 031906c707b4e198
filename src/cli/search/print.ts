import { readPoint, type Bounds } from '../../geo/bounds.js';
import { collectionId, markerId, zoneId } from '../../keys/ids.js';
import type { Found } from '../../map/text-search.js';
import { findText } from '../../server/find.js';
import { findCollection } from '../find-collection.js';
import { duration, grouped, printable } from '../progress.js';
import type { CommandSession } from '../session.js';

/** The options of the command. */
export interface SearchOptions {
  readonly collection?: readonly string[];
  readonly bounds?: Bounds;
  readonly near?: readonly [lng: number, lat: number];
  readonly first: number;
  readonly after?: string;
  readonly json?: boolean;
}

/** A running server writes its index state at shorter intervals than this. */
const FOLLOWED_MS = 180_000;

/** A result in the printed form. */
function resultOf(node: Found) {
  const { key, name } = node;
  if ('position' in node) {
    const { collection, category, position } = node;
    return { type: 'Marker', id: markerId(collection, key), name, collection, category, position } as const;
  }
  if ('cells' in node) {
    const { collection, bounds } = node;
    return { type: 'Zone', id: zoneId(collection, key), name, collection, bounds } as const;
  }
  return { type: 'Collection', id: collectionId(key), name, collection: key } as const;
}

function lineOf(node: Found): string {
  const result = resultOf(node);
  const where =
    result.type === 'Marker'
      ? [result.category, `at ${result.position.lng},${result.position.lat}`]
      : result.type === 'Zone'
        ? ['zone', `in ${Object.values(result.bounds).join(',')}`]
        : ['collection'];
  return [result.name ?? '(no name)', ...where.filter((part) => part !== null), result.id].join('  ');
}

/** Prints one page of search results to standard output, and everything else to standard error. */
export async function printFound(session: CommandSession, text: string, options: SearchOptions): Promise<void> {
  const { config, signal, call } = session;
  const { collection: keys, bounds, near: at, first, after, json = false } = options;
  const input = {
    text,
    collections: keys && (await Promise.all(keys.map((key) => findCollection(call, key)))),
    bounds,
    near: at && readPoint('--near', ...at),
    first,
    after,
  };
  const { edges, next, total, asOf } = await findText(config, session, input, signal);
  if (json) {
    const results = edges.map(({ score, node }) => ({ score, ...resultOf(node) }));
    console.log(JSON.stringify({ results, total, next }, null, 2));
  } else {
    for (const { node } of edges) console.log(printable(lineOf(node)));
    const more = next === null ? '' : `; next page: --after ${next}`;
    console.error(`${grouped(edges.length)} of ${grouped(total)} results${more}`);
  }
  const age = call.db.clock.wall() - asOf;
  if (age > FOLLOWED_MS) {
    console.error(`The index has not been updated for ${duration(age)}: start \`cellport serve\` to update it.`);
  }
}
