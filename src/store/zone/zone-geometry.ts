import { createHash, randomUUID } from 'node:crypto';
import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';

import { CellportError, ifRefused, limitExceeded } from '../../errors.js';
import type { ZoneGeometry } from '../../geo/antimeridian.js';
import type { Bounds } from '../../geo/bounds.js';
import { coverZone, type Cover } from '../../geo/zone-cover.js';
import { readZoneGeometry } from '../../geo/zone-geometry.js';
import type { GeometryFacts, StoredGeometry } from '../../model/marker.js';
import { inTurns, type Turn } from '../../scheduling/turns.js';
import type { Database, GeometryStore, Tables } from '../database.js';

const gzipped = promisify(gzip);
const gunzipped = promisify(gunzip);

/** A validated geometry, and everything that a zone's item stores about it. */
export interface PreparedGeometry {
  readonly bounds: Bounds;
  readonly covers: readonly Cover[];
  readonly stored: GeometryFacts;
  readonly body: Uint8Array;
}

const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');

/**
 * Validates, covers and compresses a client's geometry. Throws BAD_USER_INPUT naming the invalid part of `geometry`.
 */
export async function prepareGeometry(value: unknown, turn: Turn): Promise<PreparedGeometry> {
  const { geometry, parts, shape } = await inTurns(readZoneGeometry('geometry', value), turn);
  const covers = await inTurns(coverZone(shape, parts), turn);
  await turn();
  const json = Buffer.from(JSON.stringify(geometry));
  const body = new Uint8Array(await gzipped(json));
  return {
    bounds: shape.area.bounds,
    covers,
    stored: { vertices: shape.vertices, sha256: sha256(body), bytes: body.length, jsonBytes: json.length },
    body,
  };
}

/** Below the maximum length of a part of an object name. */
const LONGEST_PART = 160;

/** The prefix of the names of all objects for a table's zones, because tables may share a store. */
function objectsOfTable({ entities }: Tables): string {
  const table =
    entities.length <= LONGEST_PART
      ? entities
      : `${entities.slice(0, LONGEST_PART)}-${sha256(Buffer.from(entities)).slice(0, 16)}`;
  return `${table}/zones/`;
}

/** The scope of the collection whose zone an object belongs to; undefined for other objects. */
export function scopeOfObject(tables: Tables, name: string): string | undefined {
  const start = objectsOfTable(tables);
  if (!name.startsWith(start)) return undefined;
  const [scope, file, ...more] = name.slice(start.length).split('/');
  return more.length === 0 && file?.endsWith('.json.gz') === true ? scope : undefined;
}

/** Throws LIMIT_EXCEEDED if a geometry is too large for an item and there is no object store. */
export function checkRoom({ objects, inlineBytes }: GeometryStore, { body }: PreparedGeometry): void {
  if (body.length <= inlineBytes || objects !== undefined) return;
  throw limitExceeded(
    'geometry',
    `${body.length} bytes gzipped`,
    `${inlineBytes} bytes`,
    'simplify it, or configure an object store',
  );
}

/**
 * Stores a geometry that is too large for an item in its own object. Call before writing the item that refers to it.
 * Throws LIMIT_EXCEEDED if it is too large and there is no object store, UNAVAILABLE if the store fails.
 */
export async function placeGeometry(
  { tables, geometry }: Database,
  scope: string,
  prepared: PreparedGeometry,
): Promise<StoredGeometry> {
  const { stored, body } = prepared;
  const { objects, inlineBytes } = geometry;
  checkRoom(geometry, prepared);
  if (body.length <= inlineBytes) return { ...stored, body, object: undefined };
  const object = `${objectsOfTable(tables)}${scope}/${randomUUID()}.json.gz`;
  await objects?.put(object, body);
  return { ...stored, body: undefined, object };
}

/** Removes the object of a geometry that no item refers to any longer. Objects that cannot be removed are left to a sweep. */
export async function dropGeometry({ objects }: GeometryStore, { object }: StoredGeometry): Promise<void> {
  if (object !== undefined) await objects?.remove(object).catch(ifRefused(() => undefined));
}

/** UNAVAILABLE for a geometry that is damaged or missing. */
function broken(what: string, cause?: unknown): CellportError {
  return new CellportError('UNAVAILABLE', `the geometry cannot be read: ${what}`, {}, { cause });
}

/**
 * The GeoJSON of a stored geometry, after its bytes were compared with the hash in the item; undefined if the object does
 * not exist. Throws UNAVAILABLE if it is damaged or the store does not respond.
 */
export async function readGeometry(
  { objects }: GeometryStore,
  { body, object, sha256: hash, jsonBytes }: StoredGeometry,
): Promise<Buffer | undefined> {
  const where = object === undefined ? 'the bytes in its item' : `the object ${object}`;
  if (object !== undefined && objects === undefined)
    throw broken(`${where} needs an object store, and none is configured`);
  const bytes = object === undefined ? body : await objects?.get(object);
  if (bytes === undefined) return undefined;
  if (sha256(bytes) !== hash) throw broken(`${where} ${object === undefined ? 'are' : 'is'} damaged`);
  try {
    // Limits the output to the original size, even for malicious bytes.
    return await gunzipped(bytes, { maxOutputLength: jsonBytes });
  } catch (cause) {
    throw broken(`${where} cannot be decompressed`, cause);
  }
}

/** UNAVAILABLE for a geometry whose object does not exist. */
export function missing({ object }: StoredGeometry): CellportError {
  return broken(object === undefined ? 'its item has none' : `the object ${object} is missing`);
}

/** Parses a geometry from the JSON of `readGeometry`. */
export function parseGeometry(json: Buffer): ZoneGeometry {
  return JSON.parse(json.toString()) as ZoneGeometry;
}
