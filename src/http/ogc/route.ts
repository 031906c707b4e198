import type { FastifyInstance } from 'fastify';

import { badInput } from '../../errors.js';
import type { RequestContext } from '../../graphql/context.js';
import { UNIT_BOUNDS } from '../../graphql/limits/unit-bounds.js';
import { checkDatetime, extentOf, MOST_ITEMS, readExtent, readItem, readItems } from '../../map/items.js';
import { readDigits, readParameters, type Parameters } from '../../map/tiles/request.js';
import type { Collection } from '../../model/collection.js';
import { jsonOf } from '../../model/json.js';
import type { Limits } from '../../model/limits.js';
import type { Addresses } from '../addresses.js';
import { originOf, type Answering } from '../answering.js';
import { entityOf } from '../entity.js';
import { GEOJSON } from '../maps-route.js';
import { htmlPage, type Document, type Link } from './html.js';
import { DEFAULT_ITEMS, openApi } from './openapi.js';

const CONFORMANCE = 'http://www.opengis.net/spec/ogcapi-features-1/1.0/conf';
const CRS84 = 'http://www.opengis.net/def/crs/OGC/1.3/CRS84';
const OPENAPI = 'application/vnd.oai.openapi+json;version=3.0';
const JSON_TYPE = 'application/json';
const HTML = 'text/html; charset=utf-8';
const COLLECTIONS = 100;

type Query = Partial<Record<'bbox' | 'limit' | 'datetime' | 'cursor', string>>;

interface Asked {
  readonly context: RequestContext;
  /** The absolute URL of `/ogc`. */
  readonly base: string;
  readonly key: string;
  readonly item: string;
  readonly query: Query;
}

const at = (href: string, rel: string, type: string, title?: string): Link => ({
  href,
  rel,
  type,
  ...(title && { title }),
});
const itemsUrl = (base: string, key: string) => `${base}/collections/${encodeURIComponent(key)}/items`;

type Extent = Awaited<ReturnType<typeof extentOf>>;

/** A collection as OGC describes it. */
function described(
  base: string,
  { key: id, name: title, description }: Collection,
  { west, south, east, north }: Extent,
) {
  const url = `${base}/collections/${encodeURIComponent(id)}`;
  const links = [
    at(url, 'self', JSON_TYPE, title),
    at(itemsUrl(base, id), 'items', 'application/geo+json', `Markers of ${title}`),
    at(`${itemsUrl(base, id)}?f=html`, 'items', 'text/html', `Markers of ${title}, for people`),
    at(`${base.replace(/ogc$/, 'tiles')}/${encodeURIComponent(id)}.json`, 'describedby', JSON_TYPE, 'Its vector tiles'),
  ];
  const extent = { spatial: { bbox: [[west, south, east, north]], crs: CRS84 } };
  return { id, title, ...(description !== null && { description }), itemType: 'feature', crs: [CRS84], extent, links };
}

const landing = async ({ base }: Asked): Promise<Document> => ({
  title: 'Cellport',
  body: { title: 'Cellport', description: 'Markers of collections as OGC API Features' },
  links: [
    at(`${base}/api`, 'service-desc', OPENAPI, 'OpenAPI'),
    at(`${base}/api?f=html`, 'service-doc', 'text/html', 'OpenAPI, for people'),
    at(`${base}/conformance`, 'conformance', JSON_TYPE, 'What is implemented'),
    at(`${base}/collections`, 'data', JSON_TYPE, 'Collections'),
  ],
});

const conformance = async (): Promise<Document> => ({
  title: 'Conformance',
  body: { conformsTo: ['core', 'oas30', 'html', 'geojson'].map((name) => `${CONFORMANCE}/${name}`) },
  links: [],
});

async function collections({ context, base, query: { cursor } }: Asked): Promise<Document> {
  if (cursor !== undefined && !/^[a-z0-9][a-z0-9_-]{0,62}$/.test(cursor))
    throw badInput('cursor', cursor, 'that of a link');
  const page = await context.map.loaders.collections.page({ first: COLLECTIONS, after: cursor });
  const found = await Promise.all(
    page.collections.map(async (each) => described(base, each, await extentOf(context.map, each))),
  );
  const last = found.at(-1)?.id;
  return {
    title: 'Collections',
    body: { collections: found },
    links: [
      ...found.map(({ id, title }) => at(`${base}/collections/${id}`, 'item', JSON_TYPE, title)),
      ...(page.more && last ? [at(`${base}/collections?cursor=${last}`, 'next', JSON_TYPE, 'More')] : []),
    ],
  };
}

async function collection({ context, base, key }: Asked): Promise<Document> {
  const { collection: found, extent } = await readExtent(context.map, key);
  const { links, ...body } = described(base, found, extent);
  return { title: body.title, body, links: links.filter(({ rel }) => rel !== 'self') };
}

/** The limit of a page. One that is too large counts as the largest: OGC allows no error. */
const limitOf = ({ limit }: Query) =>
  limit === undefined ? DEFAULT_ITEMS : Math.min(MOST_ITEMS, readDigits('limit', limit, 1, Number.MAX_SAFE_INTEGER));

async function items({ context, base, key, query }: Asked): Promise<Document> {
  const { bbox, datetime, cursor: after, limit } = query;
  if (datetime !== undefined) checkDatetime(datetime);
  const request = { collection: key, bbox, first: limitOf(query), after };
  const { features, next } = await readItems(context.map, request, context.work.isLate);
  const others = Object.entries({ bbox, datetime, limit }).filter(([, value]) => value !== undefined);
  const search = new URLSearchParams([...(others as [string, string][]), ['cursor', next ?? '']]);
  return {
    title: `Markers of ${key}`,
    type: GEOJSON,
    tag: key,
    body: { type: 'FeatureCollection', numberReturned: features.length },
    features,
    links: [
      at(`${base}/collections/${key}`, 'collection', JSON_TYPE, 'Its collection'),
      ...(next === null
        ? []
        : [at(`${itemsUrl(base, key)}?${search.toString()}`, 'next', 'application/geo+json', 'More')]),
    ],
  };
}

async function item({ context, base, key, item: name }: Asked): Promise<Document> {
  const feature = await readItem(context.map, key, name);
  const links = [at(`${base}/collections/${key}`, 'collection', JSON_TYPE, 'Its collection')];
  return { title: name, type: GEOJSON, tag: key, body: { ...feature }, links };
}

const api = async ({ base }: Asked): Promise<Document> => ({
  title: 'OpenAPI',
  type: OPENAPI,
  body: openApi(base),
  links: [],
});

/** Whether a client asks for HTML: `f` decides, otherwise whether it names that type, and no JSON. Throws BAD_USER_INPUT. */
function wantsHtml(format: string | undefined, accept = ''): boolean {
  if (format !== undefined && format !== 'json' && format !== 'html') throw badInput('f', format, 'json or html');
  return format === undefined ? accept.includes('text/html') && !/json/.test(accept) : format === 'html';
}

/** The JSON of a document; its features are written one after another. */
async function jsonText({ body, links, features }: Document, { map }: RequestContext): Promise<string> {
  const rest = JSON.stringify(links.length === 0 ? body : { ...body, links });
  if (features === undefined) return rest;
  const texts: string[] = [];
  for (const [index, feature] of features.entries()) {
    if (index % 64 === 63) await map.turn();
    texts.push(jsonOf(feature));
  }
  return `${rest.slice(0, -1)},"features":[${texts.join(',')}]}`;
}

/** Serves OGC API Features under `/ogc`: core, GeoJSON, HTML and OpenAPI 3.0. Each answer has absolute links. */
export function addOgc(server: FastifyInstance, answer: Answering, addresses: Addresses, limits: Limits): void {
  const serve = (
    path: string,
    names: readonly (keyof Query)[],
    field: string | undefined,
    make: (asked: Asked) => Promise<Document>,
  ) =>
    server.get(`/ogc${path}`, async (request, reply) => {
      const { f, ...query } = readParameters(request.query as Parameters, ['f', ...names]);
      const isHtml = wantsHtml(f, request.headers.accept);
      const { key = '', item: name = '' } = request.params as { readonly key?: string; readonly item?: string };
      const origin = originOf(request, addresses);
      const units = field === undefined ? 0 : (UNIT_BOUNDS[field]?.({ first: limitOf(query) }, limits) ?? 0);
      if (isHtml)
        void reply.header(
          'content-security-policy',
          "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
        );
      return answer(request, reply, units, async (context) => {
        const base = `${origin}/ogc`;
        const { links, ...made } = await make({ context, base, key, item: name, query });
        const own = new URL(request.url, origin);
        const inFormat = (format: string) => {
          own.searchParams.set('f', format);
          return own.href;
        };
        const type = made.type ?? JSON_TYPE;
        const self = at(
          inFormat(isHtml ? 'html' : 'json'),
          'self',
          isHtml ? 'text/html' : type.replace(/; charset.*/, ''),
        );
        const other = at(
          inFormat(isHtml ? 'json' : 'html'),
          'alternate',
          isHtml ? type.replace(/; charset.*/, '') : 'text/html',
          isHtml ? 'JSON' : 'HTML',
        );
        const document = { ...made, links: make === api || make === conformance ? [] : [self, other, ...links] };
        const text = isHtml
          ? htmlPage({ ...document, links: [self, other, ...links] }, key, itemsUrl(base, key))
          : await jsonText(document, context);
        const tags = made.tag === undefined ? [] : [made.tag];
        return { entity: entityOf(Buffer.from(text)), type: isHtml ? HTML : type, tags, vary: 'accept' };
      });
    });
  serve('', [], undefined, landing);
  serve('/', [], undefined, landing);
  serve('/conformance', [], undefined, conformance);
  serve('/api', [], undefined, api);
  serve('/collections', ['cursor'], 'Query.collections', collections);
  serve('/collections/:key', [], 'Collection.bounds', collection);
  serve('/collections/:key/items', ['bbox', 'limit', 'datetime', 'cursor'], 'Viewport.markers', items);
  serve('/collections/:key/items/:item', [], 'Collection.marker', item);
}
