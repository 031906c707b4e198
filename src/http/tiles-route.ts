import type { FastifyInstance } from 'fastify';

import { notFound } from '../errors.js';
import type { RequestContext } from '../graphql/context.js';
import { UNIT_BOUNDS } from '../graphql/limits/unit-bounds.js';
import { decisiveBlocks, tagsOfAll, zonesTag } from '../map/tiles/blocks.js';
import { decisiveArea } from '../map/tiles/content.js';
import { readTile, readTileOptions, tileRequest, type Parameters, type TileOptions } from '../map/tiles/request.js';
import { tileJson } from '../map/tiles/tile-json.js';
import { makeTile } from '../map/tiles/tile.js';
import type { Limits } from '../model/limits.js';
import type { Addresses } from './addresses.js';
import { remembered, rootOf, type Answering } from './answering.js';
import { entityOf } from './entity.js';

/** A bound of the read units of a tile. */
const unitsOf = ({ layers, limit, filter }: TileOptions, limits: Limits): number =>
  layers.length * (UNIT_BOUNDS['Viewport.auto']?.({ limit, filter }, limits) ?? 0);

async function answerTile(
  context: RequestContext,
  key: string,
  tile: ReturnType<typeof readTile>,
  options: TileOptions,
) {
  const request = await tileRequest(context.map, key, tile, options);
  const { collection, layers, properties = [] } = request;
  const scope = context.map.keys.scope(collection);
  const blocks = decisiveBlocks(scope, decisiveArea(tile));
  const make = async () => {
    const { bytes, count, expiresAt } = await makeTile(context.map, request);
    return entityOf(bytes, count, expiresAt);
  };
  // Changes of zones, and of what maps do not draw, are not noted.
  const isDrawn = properties.every((name) => collection.mapProperties.includes(name)) && !layers.includes('zones');
  const name = isDrawn && options.filter === null ? [tile.z, tile.x, tile.y, options] : undefined;
  const entity = await remembered(context, collection, name, blocks, make);
  const tags = layers.includes('zones') ? [...blocks.tags, zonesTag(scope)] : blocks.tags;
  return { entity, type: 'application/vnd.mapbox-vector-tile', tags };
}

/** Serves `/tiles/{collection}/{z}/{x}/{y}`, as Mapbox Vector Tiles, and `/tiles/{collection}.json`, which describes them. */
export function addTiles(server: FastifyInstance, answer: Answering, addresses: Addresses, limits: Limits): void {
  server.get('/tiles/:collection/:z/:x/:y', async (request, reply) => {
    const { collection = '', z = '', x = '', y = '' } = request.params as Partial<Record<string, string>>;
    const tile = readTile(z, x, y.replace(/\.(mvt|pbf)$/, ''));
    const options = readTileOptions(request.query as Parameters, limits);
    return answer(request, reply, unitsOf(options, limits), async (context) => {
      const made = await answerTile(context, collection, tile, options);
      void reply.header('x-cellport-count', made.entity.count);
      return made;
    });
  });
  server.get('/tiles/:name', async (request, reply) => {
    const { name = '' } = request.params as { readonly name?: string };
    const [, key] = /^(.*)\.json$/.exec(name) ?? [];
    if (key === undefined) throw notFound('page', request.url);
    const options = readTileOptions(request.query as Parameters, limits);
    const search = new URL(request.url, 'http://localhost').search;
    const units = UNIT_BOUNDS['Collection.bounds']?.({}, limits) ?? 0;
    return answer(request, reply, units, async ({ map }) => {
      const url = `${rootOf(request, addresses)}/tiles/${encodeURIComponent(key)}/{z}/{x}/{y}${search}`;
      const body = Buffer.from(JSON.stringify(await tileJson(map, key, options, url)));
      const tags = await tagsOfAll(map, key);
      return { entity: entityOf(body), type: 'application/json; charset=utf-8', tags };
    });
  });
}
