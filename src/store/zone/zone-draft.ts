import type { Collection } from '../../model/collection.js';
import type { Properties } from '../../model/marker.js';
import type { Database } from '../database.js';
import { readOptionalText, readShown } from '../marker/properties.js';
import { checkRoom, prepareGeometry, type PreparedGeometry } from './zone-geometry.js';
import { newZoneItem, type ZoneContent } from './zone-item.js';

/** A new zone as a client describes it. Everything is checked at run time, too. */
export interface ZoneInput extends ZoneUpdate {
  readonly key?: string | null | undefined;
  readonly geometry: unknown;
}

/** Changes to a zone: what is omitted stays as it is, and null removes what is optional. */
export interface ZoneUpdate {
  readonly name?: string | null | undefined;
  readonly properties?: Properties | null | undefined;
  readonly geometry?: unknown;
}

/** As long as the longest name of an object. */
const LONGEST_OBJECT_NAME = 'x'.repeat(400);

/** A zone to be written: checked, and its geometry compressed. */
export interface ZoneDraft extends ZoneContent {
  readonly geometry: PreparedGeometry;
}

/**
 * Checks a zone without any request to the database. Throws BAD_USER_INPUT naming the field, or LIMIT_EXCEEDED if the
 * geometry needs an object store and there is none.
 */
export async function draftZone(
  database: Database,
  collection: Collection,
  key: string,
  { name, properties, geometry }: ZoneUpdate,
): Promise<ZoneDraft> {
  const content: ZoneContent = {
    name: readOptionalText('name', name),
    properties: readShown(collection, 'properties', properties ?? {}),
  };
  const prepared = await prepareGeometry(geometry, database.scheduler.takeTurn);
  const { bounds, covers, stored } = prepared;
  const inline = prepared.body.length <= database.geometry.inlineBytes;
  const expected = inline
    ? { body: prepared.body, object: undefined }
    : { body: undefined, object: LONGEST_OBJECT_NAME };
  const place = { bounds, covers, geometry: { ...stored, ...expected } };
  newZoneItem(database.keys, { collection, key, content, place, now: '' });
  checkRoom(database.geometry, prepared);
  return { ...content, geometry: prepared };
}
