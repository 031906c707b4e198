import { VectorTile } from '@mapbox/vector-tile';
import { PbfReader } from 'pbf';

/** A feature of a tile, read by a library that is not ours. */
export interface Decoded {
  readonly id: number | undefined;
  readonly properties: Readonly<Record<string, string | number | boolean>>;
  /** In units of the tile. */
  readonly x: number;
  readonly y: number;
  /** Whether it is in the tile itself, not in its buffer. */
  readonly isOwn: boolean;
  readonly rings: readonly (readonly { readonly x: number; readonly y: number }[])[];
}

/** The features of a layer of a tile; none if it has no such layer. */
export function decodeLayer(bytes: Uint8Array, name: string): Decoded[] {
  const layer = new VectorTile(new PbfReader(bytes)).layers[name];
  return Array.from({ length: layer?.length ?? 0 }, (_, index) => {
    const feature = layer?.feature(index);
    const rings = feature?.loadGeometry() ?? [];
    const [{ x, y } = { x: NaN, y: NaN }] = rings[0] ?? [];
    const isOwn = [x, y].every((at) => at >= 0 && at < 4_096);
    return { id: feature?.id, properties: feature?.properties ?? {}, x, y, isOwn, rings };
  });
}
