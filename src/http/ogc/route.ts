import type { FastifyInstance } from 'fastify';

import { badInput, CellportError } from '../../errors.js';
import type { RequestContext } from '../../graphql/context.js';
import { UNIT_BOUNDS } from '../../graphql/limits/unit-bounds.js';
import { queryables, readCql2 } from '../../map/cql2/filter.js';
import type { PointFeature } from '../../map/features.js';
import { checkDatetime, extentOf, MOST_ITEMS, readExtent, readItem, readItems } from '../../map/items.js';
import { tagsOfAll } from '../../map/tiles/blocks.js';
import { readParameters, type Parameters } from '../../map/tiles/request.js';
import { SCHEME, tileMatrixSet, tileset, TILESETS } from '../../map/tiles/tileset.js';
import type { Collection } from '../../model/collection.js';
import { jsonOf } from '../../model/json.js';
import type { Limits } from '../../model/limits.js';
import { eachInTurns } from '../../scheduling/turns.js';
import type { Addresses } from '../addresses.js';
import { checkAnswer, rootOf, type Answering } from '../answering.js';
import { qualitiesIn } from '../compression.js';
import { entityOf } from '../entity.js';
import { htmlPage, row, type Document, type Link } from './html.js';
import { DEFAULT_ITEMS, openApi } from './openapi.js';

/**
 * Not the classes of CQL2, of which filters are a part: with these, QGIS and GDAL would send filters that are refused.
 * TileJSON is no class.
 */
const CONFORMANCE = {
  'ogcapi-features-1': ['core', 'oas30', 'html', 'geojson'],
  'ogcapi-features-3': ['queryables', 'filter', 'features-filter'],
  'ogcapi-tiles-1': ['core', 'tileset', 'tilesets-list', 'geodata-tilesets', 'mvt', 'oas30'],
};
const QUERYABLES = 'http://www.opengis.net/def/rel/ogc/1.0/queryables';
const CRS84 = 'http://www.opengis.net/def/crs/OGC/1.3/CRS84';
const OPENAPI = 'application/vnd.oai.openapi+json;version=3.0';
const JSON_TYPE = 'application/json';
const GEOJSON = 'application/geo+json';
const SCHEMA = 'application/schema+json';
const HTML = 'text/html';
const COLLECTIONS = 100;
const CURSOR = 'that of a link';
const POLICY = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

type Extent = Awaited<ReturnType<typeof extentOf>>;
const ITEMS_QUERY = ['bbox', 'limit', 'datetime', 'filter', 'filter-lang', 'cursor'] as const;
type Query = Partial<Record<(typeof ITEMS_QUERY)[number], string>>;

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

/** A collection as OGC describes it. */
function described(base: string, collection: Collection, { west, south, east, north }: Extent) {
  const { key: id, name: title, description } = collection;
  const url = `${base}/collections/${encodeURIComponent(id)}`;
  const tiles = `${base.replace(/ogc$/, 'tiles')}/${encodeURIComponent(id)}.json`;
  return {
    id,
    title,
    ...(description !== null && { description }),
    itemType: 'feature',
    crs: [CRS84],
    extent: { spatial: { bbox: [[west, south, east, north]], crs: CRS84 } },
    links: [
      at(url, 'item', JSON_TYPE, title),
      at(itemsUrl(base, id), 'items', GEOJSON, `Markers of ${title}`),
      at(`${itemsUrl(base, id)}?f=html`, 'items', HTML, `Markers of ${title}, for people`),
      at(`${url}/queryables`, QUERYABLES, SCHEMA, 'What a filter can name'),
      at(`${url}/tiles`, TILESETS, JSON_TYPE, 'Its vector tiles'),
      at(tiles, 'describedby', JSON_TYPE, 'Its vector tiles as TileJSON'),
    ],
  };
}

const landing = async ({ base }: Asked): Promise<Document> => ({
  title: 'Cellport',
  body: { title: 'Cellport', description: 'Markers of collections as OGC API Features and Tiles' },
  links: [
    at(`${base}/api`, 'service-desc', OPENAPI, 'OpenAPI'),
    at(`${base}/api?f=html`, 'service-doc', HTML, 'OpenAPI, for people'),
    at(`${base}/conformance`, 'conformance', JSON_TYPE, 'What is implemented'),
    at(`${base}/collections`, 'data', JSON_TYPE, 'Collections'),
  ],
});

const conformance = async (): Promise<Document> => ({
  title: 'Conformance',
  body: {
    conformsTo: Object.entries(CONFORMANCE).flatMap(([part, names]) =>
      names.map((name) => `http://www.opengis.net/spec/${part}/1.0/conf/${name}`),
    ),
  },
  links: [],
});

async function collections({ context, base, query: { cursor } }: Asked): Promise<Document> {
  const isCursor = cursor === undefined || /^[a-z0-9][a-z0-9_-]{0,62}$/.test(cursor);
  if (!isCursor) throw badInput('cursor', cursor, CURSOR);
  const page = await context.map.loaders.collections.page({ first: COLLECTIONS, after: cursor });
  const found = await Promise.all(
    page.collections.map(async (each) => described(base, each, await extentOf(context.map, each))),
  );
  const next = `${base}/collections?cursor=${found.at(-1)?.id ?? ''}`;
  const links = [
    ...found.flatMap((each) => each.links.slice(0, 1)),
    ...(page.more ? [at(next, 'next', JSON_TYPE)] : []),
  ];
  return { title: 'Collections', body: { collections: found }, links };
}

async function collection({ context, base, key }: Asked): Promise<Document> {
  const { collection: found, extent } = await readExtent(context.map, key);
  const { links, ...body } = described(base, found, extent);
  return { title: body.title, body, links: links.slice(1) };
}

async function tilesets({ context, base, key }: Asked): Promise<Document> {
  const { layers: _, ...listed } = await tileset(context.map, base, key);
  return { title: `Tiles of ${listed.title}`, body: { tilesets: [listed] }, links: [upward(base, key)] };
}

async function oneTileset({ context, base, key }: Asked): Promise<Document> {
  const { links, ...body } = await tileset(context.map, base, key);
  return { title: `Tiles of ${body.title}`, body, links: links.slice(1) };
}

const scheme = async (): Promise<Document> => ({ title: SCHEME, body: tileMatrixSet(), links: [] });

async function filterable({ context, base, key }: Asked): Promise<Document> {
  const url = `${base}/collections/${encodeURIComponent(key)}/queryables`;
  const body = await queryables(context.map, key, url);
  return { title: `Queryables of ${body.title}`, type: SCHEMA, body, links: [] };
}

/** The limit of a page. One that is too large counts as the largest: OGC allows no error. */
function limitOf({ limit }: Query): number {
  if (limit === undefined) return DEFAULT_ITEMS;
  if (!/^[1-9]\d*$/.test(limit)) throw badInput('limit', limit, 'a whole number from 1');
  return Math.min(MOST_ITEMS, Number(limit));
}

const upward = (base: string, key: string) => at(`${base}/collections/${key}`, 'collection', JSON_TYPE);

async function items({ context, base, key, query }: Asked): Promise<Document> {
  const { cursor: after, ...others } = query;
  if (others.datetime !== undefined) checkDatetime(others.datetime);
  const filter = readCql2(others.filter, others['filter-lang']);
  const request = { collection: key, bbox: others.bbox, filter, first: limitOf(query), after };
  const { features, next, expiresAt } = await readItems(context.map, request, context.work.isLate).catch(
    (error: unknown) => {
      const isOfCursor = error instanceof CellportError && error.details['field'] === 'after';
      throw isOfCursor ? badInput('cursor', after, CURSOR) : error;
    },
  );
  const search = new URLSearchParams({ ...others, cursor: next ?? '' });
  return {
    title: `Markers of ${key}`,
    type: GEOJSON,
    body: { type: 'FeatureCollection', numberReturned: features.length },
    features,
    expiresAt,
    links: [
      upward(base, key),
      ...(next === null ? [] : [at(`${itemsUrl(base, key)}?${search.toString()}`, 'next', GEOJSON)]),
    ],
  };
}

async function item({ context, base, key, item: name }: Asked): Promise<Document> {
  const { feature, expiresAt } = await readItem(context.map, key, name);
  return { title: name, type: GEOJSON, body: { ...feature }, links: [upward(base, key)], expiresAt };
}

const api = async ({ context, base }: Asked): Promise<Document> => {
  const body = openApi(base, context.access !== undefined);
  return { title: 'OpenAPI', type: OPENAPI, body, links: [] };
};

/** Whether a client asks for HTML: `f` decides, otherwise whether it names that type and prefers it to JSON. Throws BAD_USER_INPUT. */
function wantsHtml(format: string | undefined, accept = ''): boolean {
  if (format !== undefined && format !== 'json' && format !== 'html') throw badInput('f', format, 'json or html');
  if (format !== undefined) return format === 'html';
  const qualities = [...qualitiesIn(accept)];
  const most = (type: RegExp) => Math.max(0, ...qualities.map(([name, quality]) => (type.test(name) ? quality : 0)));
  const html = most(/^text\/html$/);
  return html > most(/json/) && html >= most(/^(application|\*)\/\*$/);
}

/** The features of a document as texts. Throws LIMIT_EXCEEDED before they take more memory than an answer may. */
async function written(
  features: readonly PointFeature[],
  { map: { turn, limits } }: RequestContext,
  write: (feature: PointFeature) => string,
): Promise<readonly string[]> {
  const texts: string[] = [];
  let length = 0;
  await eachInTurns(features, turn, (feature) => {
    const text = write(feature);
    length += text.length;
    checkAnswer(length, limits);
    texts.push(text);
  });
  return texts;
}

/** The JSON of a document with these features. */
function jsonText({ body, links, features }: Document, texts: readonly string[]): string {
  const rest = jsonOf(links.length === 0 ? body : { ...body, links });
  return features === undefined ? rest : `${rest.slice(0, -1)},"features":[${texts.join(',')}]}`;
}

/** Serves OGC API Features and Tiles under `/ogc`. Each answer has absolute links. */
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
      const root = rootOf(request, addresses);
      const units =
        field === undefined ? 0 : (UNIT_BOUNDS[field]?.({ first: limitOf(query), filter: query.filter }, limits) ?? 0);
      if (isHtml) void reply.header('content-security-policy', POLICY);
      return answer(request, reply, units, async (context) => {
        const base = `${root}/ogc`;
        const made = await make({ context, base, key, item: name, query });
        const { type = JSON_TYPE } = made;
        const { pathname, search } = new URL(request.url, root);
        const inFormat = (format: 'json' | 'html', rel: string, href = root + pathname + search) => {
          const url = new URL(href);
          url.searchParams.set('f', format);
          return at(url.href, rel, format === 'html' ? HTML : type, format.toUpperCase());
        };
        const [format, other] = isHtml ? (['html', 'json'] as const) : (['json', 'html'] as const);
        // Whoever asks for a format by its URL may not ask for it by a header.
        const others = made.links.map((link) =>
          link.rel === 'next' && f !== undefined ? { ...inFormat(format, 'next', link.href), title: 'next' } : link,
        );
        const document = { ...made, links: [inFormat(format, 'self'), inFormat(other, 'alternate'), ...others] };
        // An OpenAPI document and a schema have no links.
        const isBare = !isHtml && (make === api || make === filterable);
        const url = itemsUrl(base, key);
        const write = (feature: PointFeature) => (isHtml ? row(key, url, feature) : jsonOf(feature));
        const texts = await written(made.features ?? [], context, write);
        const text = isHtml ? htmlPage(document, key, url, texts) : jsonText(isBare ? made : document, texts);
        const tags = key === '' ? undefined : await tagsOfAll(context.map, key);
        return {
          entity: entityOf(Buffer.from(text), 0, made.expiresAt),
          type: isHtml ? `${HTML}; charset=utf-8` : type,
          tags,
          vary: ['accept'],
        };
      });
    });
  serve('', [], undefined, landing);
  serve('/', [], undefined, landing);
  serve('/conformance', [], undefined, conformance);
  serve('/api', [], undefined, api);
  serve('/collections', ['cursor'], 'Query.collections', collections);
  serve('/collections/:key', [], 'Collection.bounds', collection);
  serve('/collections/:key/queryables', [], 'Query.collection', filterable);
  serve('/collections/:key/tiles', [], 'Query.collection', tilesets);
  serve(`/collections/:key/tiles/${SCHEME}`, [], 'Query.collection', oneTileset);
  serve(`/tileMatrixSets/${SCHEME}`, [], undefined, scheme);
  serve('/collections/:key/items', ITEMS_QUERY, 'Viewport.markers', items);
  serve('/collections/:key/items/:item', [], 'Collection.marker', item);
}
