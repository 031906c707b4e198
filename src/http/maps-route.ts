import type { FastifyInstance } from 'fastify';

import { badInput } from '../errors.js';
import { UNIT_BOUNDS } from '../graphql/limits/unit-bounds.js';
import { readContentQuestion } from '../map/content.js';
import { decisiveBlocks } from '../map/tiles/blocks.js';
import { readFilterText, readLimit, readParameters, type Parameters } from '../map/tiles/request.js';
import { areaOfClusters, mapFeatures, snappedMap } from '../map/tiles/snapped-map.js';
import type { Limits } from '../model/limits.js';
import type { Addresses } from './addresses.js';
import { prefixOf, remembered, type Answering } from './answering.js';
import { entityOf } from './entity.js';

const USAGE = 'given: /maps/KEY?bbox=west,south,east,north&zoom=3';

/**
 * Serves `/maps/{collection}?bbox&zoom`: what a map shows, as GeoJSON, by one request. The box is widened to tiles, so that
 * maps that differ little have the same answer; `Content-Location` is the URL that all of them can send.
 */
export function addMaps(server: FastifyInstance, answer: Answering, addresses: Addresses, limits: Limits): void {
  server.get('/maps/:key', async (request, reply) => {
    const { key = '' } = request.params as { readonly key?: string };
    const names = ['bbox', 'zoom', 'limit', 'filter'] as const;
    const { bbox, zoom, limit, filter: text } = readParameters(request.query as Parameters, names);
    if (bbox === undefined) throw badInput('bbox', bbox, USAGE);
    if (zoom === undefined) throw badInput('zoom', zoom, USAGE);
    const { viewport, bbox: snapped } = snappedMap(bbox, zoom);
    const filter = readFilterText(text);
    const most = readLimit(limit, limits);
    const others = new URLSearchParams({
      ...(limit !== undefined && { limit }),
      ...(text !== undefined && { filter: text }),
    });
    const search = [`bbox=${snapped}`, `zoom=${viewport.zoom}`, others.toString()];
    const path = `${prefixOf(request, addresses)}/maps/${encodeURIComponent(key)}`;
    void reply.header('content-location', `${path}?${search.filter(Boolean).join('&')}`);
    const units = UNIT_BOUNDS['Viewport.auto']?.({ limit: most, filter }, limits) ?? 0;
    return answer(request, reply, units, async (context) => {
      const question = await readContentQuestion(context.map, 'map', key, most, filter);
      const blocks = decisiveBlocks(context.map.keys.scope(question.collection), areaOfClusters(viewport));
      const make = async () => {
        const { body, expiresAt } = await mapFeatures(context.map, viewport, question);
        return entityOf(body, 0, expiresAt);
      };
      const name = filter === null ? ['map', viewport.zoom, snapped, most] : undefined;
      const entity = await remembered(context, question.collection, name, blocks, make);
      return { entity, type: 'application/geo+json; charset=utf-8', tags: blocks.tags };
    });
  });
}
