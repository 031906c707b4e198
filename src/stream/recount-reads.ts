import { randomUUID } from 'node:crypto';

import { systemClock } from '../clock.js';
import { placeParent } from '../model/cell.js';
import type { BlockName } from '../store/cell/blocks.js';
import type { Database } from '../store/database.js';
import { newCall } from '../store/request/meter.js';
import { type Operations, send } from '../store/request/send.js';
import type { WireImage } from './change.js';
import type { RecountPort } from './recount.js';

/** Parts of a table that are scanned side by side. */
const SEGMENTS = 4;
/** The fence is of no use once its record was read. */
const FENCE_LIVES_S = 3_600;

/** Pages of a whole table in wire format: all segments at once, each page as it comes. */
async function* scan(
  database: Database,
  table: string,
  attributes: readonly string[],
): AsyncGenerator<readonly WireImage[]> {
  const names = Object.fromEntries(attributes.map((name, index) => [`#${index}`, name]));
  const call = newCall();
  type Page = Operations['wireScan']['output'];
  const next = async (segment: number, after: Page['LastEvaluatedKey']) => {
    const request = {
      TableName: table,
      ConsistentRead: true,
      Segment: segment,
      TotalSegments: SEGMENTS,
      ProjectionExpression: Object.keys(names).join(', '),
      ExpressionAttributeNames: names,
      ...(after === undefined ? {} : { ExclusiveStartKey: after }),
    };
    return { segment, page: await send(database, 'wireScan', request, call) };
  };
  const running = new Map(Array.from({ length: SEGMENTS }, (_, segment) => [segment, next(segment, undefined)]));
  while (running.size > 0) {
    const { segment, page } = await Promise.race(running.values());
    if (page.LastEvaluatedKey === undefined) running.delete(segment);
    else running.set(segment, next(segment, page.LastEvaluatedKey));
    yield page.Items ?? [];
  }
}

/** What a recount reads of a database. */
export function openRecount(database: Database, consumer: string): RecountPort {
  const { keys, tables } = database;
  const keyOf = ({ pk, sk }: WireImage) => ({ pk: String(pk?.['S']), sk: String(sk?.['S']) });
  return {
    async *scanMarkers() {
      for await (const page of scan(database, tables.entities, ['pk', 'sk', 'lng', 'lat', 'place'])) {
        yield page.filter((image) => keys.parseMarker(keyOf(image)) !== undefined);
      }
    },
    async *listBlocks() {
      for await (const page of scan(database, tables.derived, ['pk', 'sk'])) {
        yield page.flatMap((image): BlockName[] => {
          const place = keys.parsePlaceCount(keyOf(image));
          if (place !== undefined) return [{ scope: place.scope, parent: placeParent(place.place) }];
          const cell = keys.parseCell(keyOf(image));
          return cell === undefined ? [] : [{ scope: cell.scope, parent: cell.geohash }];
        });
      }
    },
    async writeFence() {
      const key = keys.streamState(consumer);
      const ttl = Math.ceil(systemClock.wall() / 1_000) + FENCE_LIVES_S;
      // Never equal to the stored item: putting an equal item leaves no record.
      const fence = { ...key, fence: randomUUID(), ttl };
      await send(database, 'put', { TableName: tables.entities, Item: fence }, newCall());
      return key;
    },
  };
}
