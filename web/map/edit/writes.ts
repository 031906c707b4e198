import { CREATE, type Collection, DELETE, type Marker, UPDATE } from '../documents.js';
import { ask } from '../graphql.js';
import type { CollectionLayer } from '../layers/collection-layer.js';
import type { Step } from './history.js';

type Position = Marker['position'];

/** How long the map may take to hear of what it wrote; then it asks. */
const HEARD_OF_WITHIN_MS = 2_500;

/** The versions that this page's own writes left, so that one can be taken back after the other. */
const versions = new Map<string, number>();

/** Random and short enough to read; also where the page has no secure context. */
function newKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(8));
  return Array.from(bytes, (byte) => (byte % 36).toString(36)).join('');
}

/** Draws what is being written at once; where writing fails, or nobody tells of it, the truth. */
async function ahead<T>(
  layer: CollectionLayer,
  id: string,
  marker: Marker | null,
  write: () => Promise<T>,
): Promise<T> {
  const undo = layer.pretend(id, marker);
  try {
    const written = await write();
    setTimeout(() => {
      if (undo()) layer.refresh();
    }, HEARD_OF_WITHIN_MS);
    return written;
  } catch (error) {
    undo();
    layer.refresh();
    throw error;
  }
}

const called = ({ name, key }: Marker) => name ?? key;

async function create(
  layer: CollectionLayer,
  input: Omit<Marker, 'id' | 'version' | 'key'>,
  key?: string,
): Promise<Marker> {
  const { name, category, position, properties, place } = input;
  const made = await ask<{ readonly createMarker: Marker }>(CREATE, {
    input: { collection: layer.collection.key, name, category, position, properties, place, ...(key && { key }) },
  });
  const marker = made.createMarker;
  versions.set(marker.id, marker.version);
  return ahead(layer, marker.id, marker, async () => marker);
}

async function move(layer: CollectionLayer, marker: Marker, position: Position): Promise<Marker> {
  const input = { id: marker.id, position, expectedVersion: marker.version };
  return ahead(layer, marker.id, { ...marker, position }, async () => {
    const { updateMarker } = await ask<{ readonly updateMarker: Marker }>(UPDATE, { input });
    versions.set(marker.id, updateMarker.version);
    return updateMarker;
  });
}

async function remove(layer: CollectionLayer, { id, version }: Marker): Promise<Marker> {
  return ahead(layer, id, null, async () => {
    const { deleteMarker } = await ask<{ readonly deleteMarker: Marker }>(DELETE, { id, expectedVersion: version });
    return deleteMarker;
  });
}

/** A marker as this page left it, if it was the last to write. */
const asLeft = (marker: Marker): Marker => ({ ...marker, version: versions.get(marker.id) ?? marker.version });

const givesKeys = ({ idStrategy }: Collection) => idStrategy !== 'GIVEN';

/** Puts a marker on the map; to take it back deletes it. */
export async function addMarker(
  layer: CollectionLayer,
  name: string,
  position: Position,
): Promise<Step & { readonly marker: Marker }> {
  const input = { name, category: null, position, properties: {}, place: [] };
  const marker = await create(layer, input, givesKeys(layer.collection) ? undefined : newKey());
  return { marker, label: `new ${called(marker)}`, undo: async () => void (await remove(layer, asLeft(marker))) };
}

/** Moves a marker; to take it back moves it to where it was. */
export async function moveMarker(layer: CollectionLayer, marker: Marker, position: Position): Promise<Step> {
  const moved = await move(layer, marker, position);
  return {
    label: `move of ${called(marker)}`,
    undo: async () => void (await move(layer, asLeft(moved), marker.position)),
  };
}

/** Deletes a marker; to take it back makes it again, under its key where the collection lets one be given. */
export async function deleteMarker(layer: CollectionLayer, marker: Marker): Promise<Step> {
  const gone = await remove(layer, marker);
  const key = givesKeys(layer.collection) ? undefined : gone.key;
  return { label: `deletion of ${called(marker)}`, undo: async () => void (await create(layer, gone, key)) };
}
