import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { GeoJSONVT } from '@maplibre/geojson-vt';
import { fromGeojsonVt } from '@maplibre/vt-pbf';
import type { Feature } from 'geojson';
import { Compression, TileType } from 'pmtiles';

/** A PMTiles file with one vector tile of the world, with one square in a layer. */
function pmtiles(layer: string): Buffer {
  const ring = [[-60, -60], [60, -60], [60, 60], [-60, 60], [-60, -60]]; // prettier-ignore
  const land: Feature = { type: 'Feature', geometry: { type: 'Polygon', coordinates: [ring] }, properties: {} };
  const tile = new GeoJSONVT({ type: 'FeatureCollection', features: [land] }).getTile(0, 0, 0);
  if (tile === null) throw new Error('the tile is empty');
  const bytes = Buffer.from(fromGeojsonVt({ [layer]: tile }, { version: 2 }));
  const varint = (value: number): number[] => (value < 128 ? [value] : [(value % 128) + 128, ...varint(value >> 7)]);
  // One entry: tile 0, a run of one, its length, and its offset plus one.
  const root = Buffer.from([1, 0, 1, ...varint(bytes.length), 1]);
  const metadata = Buffer.from(JSON.stringify({ vector_layers: [{ id: layer }] }));
  const header = Buffer.alloc(127);
  header.write('PMTiles');
  header.writeUInt8(3, 7);
  const parts = [root, metadata, Buffer.alloc(0), bytes];
  let offset = header.length;
  for (const [at, part] of parts.entries()) {
    header.writeBigUInt64LE(BigInt(offset), 8 + 16 * at);
    header.writeBigUInt64LE(BigInt(part.length), 16 + 16 * at);
    offset += part.length;
  }
  for (const at of [72, 80, 88]) header.writeBigUInt64LE(1n, at);
  header.set([1, Compression.None, Compression.None, TileType.Mvt, 0, 0], 96);
  for (const [at, degrees] of [-180, -85, 180, 85].entries()) header.writeInt32LE(degrees * 1e7, 102 + 4 * at);
  return Buffer.concat([header, ...parts]);
}

export interface OwnTiles {
  /** A style that draws the file with its own schema. */
  readonly styleUrl: string;
  /** A file in Protomaps' schema, and one in another. */
  readonly tilesUrl: string;
  readonly foreignUrl: string;
  close(): void;
}

/** Serves PMTiles files, and a MapLibre style for one of them, to pages of any site. */
export async function serveOwnTiles(): Promise<OwnTiles> {
  const files = new Map(['earth', 'land'].map((layer) => [`/${layer}.pmtiles`, pmtiles(layer)]));
  const server = createServer(({ url, headers, method }, response) => {
    response.setHeader('access-control-allow-origin', '*');
    response.setHeader('access-control-allow-headers', 'range');
    if (method === 'OPTIONS') return response.end();
    if (url === '/style.json') {
      const sources = { own: { type: 'vector', url: `pmtiles://${origin}/land.pmtiles` } };
      const ground = { id: 'sea', type: 'background', paint: { 'background-color': '#88aaff' } };
      const layer = { id: 'own-land', type: 'fill', source: 'own', 'source-layer': 'land' };
      return response.end(JSON.stringify({ version: 8, sources, layers: [ground, layer] }));
    }
    const [, from = '0', to = '0'] = /bytes=(\d+)-(\d+)/.exec(headers.range ?? '') ?? [];
    const file = files.get(url ?? '') ?? Buffer.alloc(0);
    const part = file.subarray(Number(from), Number(to) + 1);
    response.setHeader('content-range', `bytes ${from}-${Number(from) + part.length - 1}/${file.length}`);
    return response.writeHead(206).end(part);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    styleUrl: `${origin}/style.json`,
    tilesUrl: `${origin}/earth.pmtiles`,
    foreignUrl: `${origin}/land.pmtiles`,
    close: () => server.close(),
  };
}
