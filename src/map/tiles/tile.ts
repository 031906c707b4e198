import { geoJSONToTile } from '@maplibre/geojson-vt';

import { limitExceeded } from '../../errors.js';
import { clusterCells } from '../../geo/clusters.js';
import { areaAround, TILE_BUFFER, TILE_UNITS, tileAt, unitAt, type Tile } from '../../geo/tiles.js';
import { zoneId } from '../../keys/ids.js';
import type { Collection } from '../../model/collection.js';
import { shownProperties, type MarkerFilter } from '../../model/grant.js';
import { firstExpiry, pickProperties, type MapMarker, type Properties, type Zone } from '../../model/marker.js';
import { clusterPrecision, precisionForZoom } from '../../plan/precision.js';
import type { MapContext } from '../../read/context.js';
import { advising } from '../../read/find-markers.js';
import { inTurns } from '../../scheduling/turns.js';
import { cellsOfMarkers, occupiedCellsOrCoarser } from '../cells/cells.js';
import { drawnProperties } from '../features.js';
import { markerProperties } from '../markers.js';
import { zoneGeometry } from '../zones/zone-geometry.js';
import { viewportZones } from '../zones/zones.js';
import { spacingAt, TILE_ADVICE, tileContent, type TileContent, type TileQuestion } from './content.js';
import { encodeTile, type TileFeature } from './encode.js';
import { cellFeature, clusterFeatures, markerFeatures, zoneFeature } from './features.js';

export const LAYERS = ['markers', 'clusters', 'cells', 'zones'] as const;
export type LayerName = (typeof LAYERS)[number];

/** What a client asks of a tile. */
export interface TileRequest {
  readonly collection: Collection;
  readonly tile: Tile;
  readonly layers: readonly LayerName[];
  /** Names of the properties of markers and zones; undefined for those that maps draw. */
  readonly properties: readonly string[] | undefined;
  readonly filter: MarkerFilter | undefined;
  readonly limit: number;
}

/** An encoded tile. */
export interface MadeTile {
  /** A Mapbox Vector Tile, version 2; no bytes if nothing is in it. */
  readonly bytes: Buffer;
  /** The number of markers that it stands for, its buffer aside: its own, and the counts of its clusters. */
  readonly count: number;
  /** As in `firstExpiry`. */
  readonly expiresAt: number;
}

/** Beyond this, markers are drawn as clusters, and a tile of zones is refused. */
const MOST_BYTES = 500_000;
const MOST_ZONES = 1_000;
const FIELD = 'tile';

const isOwn = (tile: Tile, { position }: Pick<MapMarker, 'position'>) => {
  const { x, y } = tileAt(unitAt(position, tile.z), tile.z);
  return x === tile.x && y === tile.y;
};

/** The features of markers, with properties that are read from base items if maps do not draw them. */
async function markersLayer(context: MapContext, request: TileRequest, markers: readonly MapMarker[]) {
  const { tile, collection, properties: names } = request;
  const isDrawn = (name: string) => collection.mapProperties.includes(name);
  const propertiesOf = async (marker: MapMarker): Promise<Properties> => {
    if (names === undefined) return drawnProperties(marker, collection.mapProperties);
    const isKnown = marker.complete || names.every(isDrawn);
    return pickProperties(isKnown ? marker.mapProperties : await markerProperties(context, marker), names);
  };
  const all = await Promise.all(markers.map(propertiesOf));
  return markers.flatMap((marker, index) => markerFeatures(tile, marker, all[index] ?? {}));
}

/** Clusters of a tile's own markers, where these take too many bytes. Their sum is the same. */
async function gathered(context: MapContext, { tile }: TileRequest, content: TileContent): Promise<TileContent> {
  const cells = cellsOfMarkers(
    content.markers.filter((marker) => isOwn(tile, marker)),
    clusterPrecision(tile.z),
  );
  const made = await inTurns(clusterCells(areaAround(tile, TILE_UNITS), cells, spacingAt(tile)), context.turn);
  return { markers: [], clusters: [...content.clusters, ...made] };
}

/** A part of a zone, as geojson-vt cuts it. */
interface CutFeature {
  readonly id: number;
  readonly type: TileFeature['type'];
  readonly geometry: readonly unknown[];
  readonly tags: Properties | null;
}

/** The zones of a tile, simplified to half a pixel and cut to it. Throws LIMIT_EXCEEDED for too many. */
async function zonesLayer(context: MapContext, { tile, collection, properties: names }: TileRequest) {
  const viewport = { area: areaAround(tile, TILE_BUFFER), zoom: tile.z, precision: precisionForZoom(tile.z) };
  const zones: Zone[] = [];
  const first = Math.min(MOST_ZONES, context.limits.maxFirst);
  for (let after: string | null | undefined; after !== null;) {
    const { edges, pageInfo } = await viewportZones(context, viewport, collection.key, { first, after });
    zones.push(...edges.map(({ node }) => node));
    if (zones.length > MOST_ZONES || (zones.length === MOST_ZONES && pageInfo.hasNextPage)) {
      throw limitExceeded('number of zones in the tile', `more than ${MOST_ZONES}`, MOST_ZONES, 'zoom in');
    }
    after = pageInfo.hasNextPage ? pageInfo.endCursor : null;
  }
  const { z, x, y } = tile;
  const tolerance = 360 / (TILE_UNITS * 0.25 * 2 ** z);
  const options = { extent: TILE_UNITS, buffer: TILE_BUFFER, clip: true, wrap: true };
  const cut: CutFeature[] = [];
  for (const zone of zones) {
    const geometry = JSON.parse((await zoneGeometry(context, zone, { tolerance })).toString()) as GeoJSON.Geometry;
    const all = collection.grant ? shownProperties(collection.grant, zone.properties) : zone.properties;
    const own = names === undefined ? all : pickProperties(all, names);
    const id = zoneId(collection.key, zone.key);
    const named = { ...own, key: zone.key, ...(zone.name === null ? {} : { name: zone.name }) };
    await context.turn();
    // One by one: all of them together may take long to cut, and more memory than there is.
    cut.push(...(geoJSONToTile(zoneFeature(id, geometry, named), z, x, y, options).features as CutFeature[]));
    await context.turn();
  }
  return cut.map(({ id, type, geometry, tags }): TileFeature => {
    // Of points, there is a list of positions.
    const parts = type === 1 ? geometry.map((point) => [point]) : geometry;
    return { id, type, geometry: parts as TileFeature['geometry'], properties: tags ?? {} };
  });
}

async function cellsLayer(context: MapContext, { tile, collection, filter }: TileRequest) {
  const question = { field: FIELD, collection, filter, area: areaAround(tile, TILE_BUFFER) };
  const { cells } = await occupiedCellsOrCoarser(context, { ...question, precision: precisionForZoom(tile.z) });
  return cells.flatMap((cell) => cellFeature(tile, cell));
}

/** Makes a tile. Throws LIMIT_EXCEEDED for more than can be read, or than fits into a tile. */
export async function makeTile(context: MapContext, request: TileRequest): Promise<MadeTile> {
  const { layers: asked, collection, filter, limit, tile } = request;
  const has = (name: LayerName) => asked.includes(name);
  const question: TileQuestion = { field: FIELD, collection, filter, limit };
  const reading = has('markers') || has('clusters') ? tileContent(context, tile, question) : undefined;
  const [found, cells, zones] = await Promise.all([
    reading,
    has('cells') ? cellsLayer(context, request) : [],
    has('zones') ? zonesLayer(context, request) : [],
  ]).catch(advising(FIELD, context.limits, TILE_ADVICE));
  const encode = async (content: TileContent): Promise<Buffer> => {
    const markers = has('markers') ? await markersLayer(context, request, content.markers) : [];
    await context.turn();
    const clusters = has('clusters') ? content.clusters.flatMap((cluster) => clusterFeatures(tile, cluster)) : [];
    return encodeTile({ markers, clusters, cells, zones }, TILE_UNITS);
  };
  let content: TileContent = found ?? { markers: [], clusters: [] };
  let bytes = await encode(content);
  if (bytes.length > MOST_BYTES && content.markers.length > 0) {
    content = await gathered(context, request, content);
    bytes = await encode(content);
  }
  if (bytes.length > MOST_BYTES) {
    throw limitExceeded('size of the tile', `${bytes.length} bytes`, MOST_BYTES, 'zoom in, or ask for fewer layers');
  }
  const own = content.clusters.filter((cluster) => isOwn(tile, cluster));
  return {
    bytes,
    count:
      content.markers.filter((marker) => isOwn(tile, marker)).length + own.reduce((sum, { count }) => sum + count, 0),
    expiresAt: firstExpiry(content.markers),
  };
}
