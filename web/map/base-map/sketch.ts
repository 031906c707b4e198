import type {
  CircleLayerSpecification,
  FillLayerSpecification,
  HeatmapLayerSpecification,
  LineLayerSpecification,
  Map as MapLibre,
  SymbolLayerSpecification,
} from 'maplibre-gl';

type Painted =
  | CircleLayerSpecification
  | FillLayerSpecification
  | HeatmapLayerSpecification
  | LineLayerSpecification
  | SymbolLayerSpecification;
/**
 * A layer without its ID and source, and the ID of the layer below which it stays. Opacities are numbers, so that they
 * can be faded.
 */
export type Sketch = Painted extends infer Each
  ? Each extends Painted
    ? Omit<Each, 'id' | 'source'> & { readonly name: string; readonly before?: string }
    : never
  : never;

/** Sets paint properties of a layer. */
export function paintLayer(map: MapLibre, id: string, paint: object | undefined): void {
  for (const [name, value] of Object.entries(paint ?? {})) {
    map.setPaintProperty(id, name as 'circle-color', value as string);
  }
}
