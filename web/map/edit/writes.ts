import { CREATE, DELETE, UPDATE, type Collection, type Marker } from '../api/documents.js';
import { request } from '../api/graphql.js';
import type { CollectionLayer } from '../layers/collection-layer.js';
import type { Step } from './history.js';

type Position = Marker['position'];
type Changes = Partial<Pick<Marker, 'position' | 'name' | 'category' | 'properties'>>;

/** If no live change confirms a write within this time, the layer is reloaded. */
const CONFIRM_MS = 2_500;

/** Versions after this page's own writes, so that they can be undone one by one. */
const versions = new Map<string, number>();

/** A random key, short enough to read. `crypto.randomUUID` would require a secure context. */
function newKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(8));
  return Array.from(bytes, (byte) => (byte % 36).toString(36)).join('');
}

/** Draws a write before it is confirmed. Reloads the layer if the write fails or no live change confirms it. */
async function optimistically<T>(
  layer: CollectionLayer,
  id: string,
  marker: Marker | null,
  write: () => Promise<T>,
): Promise<T> {
  const undo = layer.drawOptimistically(id, marker);
  try {
    const written = await write();
    setTimeout(() => {
      if (undo()) layer.refresh();
    }, CONFIRM_MS);
    return written;
  } catch (error) {
    undo();
    layer.refresh();
    throw error;
  }
}

const nameOf = ({ name, key }: Marker) => name ?? key;

async function create(
  layer: CollectionLayer,
  input: Omit<Marker, 'id' | 'version' | 'key'>,
  key?: string,
): Promise<Marker> {
  const { name, category, position, properties, place } = input;
  const made = await request<{ readonly createMarker: Marker }>(CREATE, {
    input: { collection: layer.collection.key, name, category, position, properties, place, ...(key && { key }) },
  });
  const marker = made.createMarker;
  versions.set(marker.id, marker.version);
  return optimistically(layer, marker.id, marker, async () => marker);
}

async function update(layer: CollectionLayer, marker: Marker, changes: Changes): Promise<Marker> {
  const input = { id: marker.id, ...changes, expectedVersion: marker.version };
  return optimistically(layer, marker.id, { ...marker, ...changes }, async () => {
    const { updateMarker } = await request<{ readonly updateMarker: Marker }>(UPDATE, { input });
    versions.set(marker.id, updateMarker.version);
    return updateMarker;
  });
}

async function remove(layer: CollectionLayer, { id, version }: Marker): Promise<Marker> {
  return optimistically(layer, id, null, async () => {
    const { deleteMarker } = await request<{ readonly deleteMarker: Marker }>(DELETE, { id, expectedVersion: version });
    return deleteMarker;
  });
}

/** A marker with the version assigned by this page's latest write. */
const withLatestVersion = (marker: Marker): Marker => ({
  ...marker,
  version: versions.get(marker.id) ?? marker.version,
});

const generatesKeys = ({ idStrategy }: Collection) => idStrategy !== 'GIVEN';

/** Adds a marker. */
export async function addMarker(layer: CollectionLayer, name: string, position: Position): Promise<Step> {
  const input = { name, category: null, position, properties: {}, place: [] };
  const key = generatesKeys(layer.collection) ? undefined : newKey();
  let marker = await create(layer, input, key);
  return {
    label: `add ${nameOf(marker)}`,
    undo: async () => void (await remove(layer, withLatestVersion(marker))),
    redo: async () => void (marker = await create(layer, input, key)),
  };
}

/** Changes fields of a marker. Rejects with CONFLICT if it no longer has the given version. */
export async function changeMarker(
  layer: CollectionLayer,
  marker: Marker,
  changes: Changes,
  verb: 'move' | 'edit',
): Promise<Step> {
  const changed = await update(layer, marker, changes);
  const former = Object.fromEntries(Object.keys(changes).map((name) => [name, marker[name as keyof Changes]]));
  const set = (fields: Changes) => async () => void (await update(layer, withLatestVersion(changed), fields));
  return { label: `${verb} ${nameOf(changed)}`, undo: set(former), redo: set(changes) };
}

/** Deletes a marker; undo creates it again, under the same key unless the collection generates keys. */
export async function deleteMarker(layer: CollectionLayer, marker: Marker): Promise<Step> {
  let gone = await remove(layer, marker);
  const key = generatesKeys(layer.collection) ? undefined : gone.key;
  return {
    label: `delete ${nameOf(marker)}`,
    undo: async () => void (gone = await create(layer, gone, key)),
    redo: async () => void (gone = await remove(layer, withLatestVersion(gone))),
  };
}
