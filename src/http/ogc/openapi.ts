import { FILTER_LANGUAGES } from '../../map/cql2/filter.js';
import { MOST_ITEMS } from '../../map/items.js';
import { SCHEME, tileMatrixSet } from '../../map/tiles/tileset.js';

export const DEFAULT_ITEMS = 1_000;

const parameter = (name: string, description: string, schema: object, where = 'query') => ({
  name,
  in: where,
  description,
  required: where === 'path',
  schema,
  ...(name === 'bbox' ? { style: 'form', explode: false } : {}),
});

const text = { type: 'string' };
const ZOOMS = tileMatrixSet().tileMatrices.map(({ id }) => id);
const someText = { type: 'string', minLength: 1 };
const PARAMETERS = {
  collectionId: parameter('collectionId', 'The key of a collection', text, 'path'),
  featureId: parameter('featureId', 'The key of a marker', text, 'path'),
  f: parameter('f', 'The format; by default, Accept decides', { type: 'string', enum: ['json', 'html'] }),
  bbox: parameter('bbox', 'West, south, east and north in degrees; west > east crosses the antimeridian', {
    type: 'array',
    items: { type: 'number' },
    oneOf: [4, 6].map((numbers) => ({ minItems: numbers, maxItems: numbers })),
  }),
  limit: parameter('limit', 'The most items of a page; a larger number counts as the largest', {
    type: 'integer',
    minimum: 1,
    maximum: MOST_ITEMS,
    default: DEFAULT_ITEMS,
  }),
  datetime: parameter(
    'datetime',
    'An instant or interval of RFC 3339; markers have no time, so all are in it',
    someText,
  ),
  filter: parameter('filter', 'Comparisons in CQL2 of category, updatedAt and properties, joined by AND', someText),
  'filter-lang': parameter('filter-lang', 'The form of the filter', {
    type: 'string',
    enum: FILTER_LANGUAGES,
    default: FILTER_LANGUAGES[0],
  }),
  tileMatrix: parameter('tileMatrix', 'The zoom', { type: 'string', enum: ZOOMS }, 'path'),
  tileCol: parameter('tileCol', 'The column, from the west', { type: 'integer', minimum: 0 }, 'path'),
  tileRow: parameter('tileRow', 'The row, from the north', { type: 'integer', minimum: 0 }, 'path'),
  cursor: parameter('cursor', 'Where the page begins, from the link `next` of the one before', someText),
};

const ref = (kind: string, name: string) => ({ $ref: `#/components/${kind}/${name}` });

const failure = {
  description: 'Why the request is refused',
  content: { 'application/json': { schema: ref('schemas', 'Errors') } },
};

/** A path that is answered by GET with JSON of a type and schema, or HTML. */
function path(summary: string, operationId: string, names: readonly string[], type: string, schema: string) {
  const parameters = [...names, 'f'].map((name) => ref('parameters', name));
  const answer = { [type]: { schema: ref('schemas', schema) }, 'text/html': { schema: text } };
  const responses = { 200: { description: summary, content: answer }, default: failure };
  return { get: { summary, operationId, parameters, responses } };
}

const object = (required: readonly string[], properties: object) => ({ type: 'object', required, properties });
const listOf = (name: string) => ({ type: 'array', items: ref('schemas', name) });
const links = listOf('Link');

const SCHEMAS = {
  Document: { type: 'object' },
  Link: object(['href', 'rel'], { href: text, rel: text, type: text, title: text }),
  Landing: object(['links'], { title: text, description: text, links }),
  Conformance: object(['conformsTo'], { conformsTo: { type: 'array', items: text } }),
  Collection: object(['id', 'links'], { id: text, title: text, description: text, links, extent: { type: 'object' } }),
  Collections: object(['links', 'collections'], { links, collections: listOf('Collection') }),
  Feature: object(['type', 'geometry', 'properties'], {
    type: { type: 'string', enum: ['Feature'] },
    id: text,
    geometry: { type: 'object' },
    properties: { type: 'object' },
    links,
  }),
  Features: object(['type', 'features'], {
    type: { type: 'string', enum: ['FeatureCollection'] },
    features: listOf('Feature'),
    links,
    numberReturned: { type: 'integer', minimum: 0 },
  }),
  Tileset: object(['dataType', 'crs', 'links'], {
    title: text,
    dataType: text,
    crs: text,
    tileMatrixSetURI: text,
    links,
  }),
  Tilesets: object(['tilesets'], { tilesets: listOf('Tileset'), links }),
  Errors: object(['errors'], { errors: { type: 'array', items: object(['message'], { message: text }) } }),
};

const JSON_TYPE = 'application/json';
const GEOJSON = 'application/geo+json';
const COLLECTION = '/collections/{collectionId}';
const ITEMS_PARAMETERS = ['collectionId', 'bbox', 'limit', 'datetime', 'filter', 'filter-lang', 'cursor'];

/** A tile, which is not under `/ogc`. */
const tile = (base: string) => ({
  servers: [{ url: base.replace(/\/ogc$/, '') }],
  get: {
    summary: 'A vector tile',
    operationId: 'tile',
    parameters: ['collectionId', 'tileMatrix', 'tileCol', 'tileRow'].map((name) => ref('parameters', name)),
    responses: {
      200: {
        description: 'The tile',
        content: { 'application/vnd.mapbox-vector-tile': { schema: { type: 'string' } } },
      },
      204: { description: 'Nothing is there' },
      default: failure,
    },
  },
});

const SECURITY = {
  apiKey: { type: 'apiKey', in: 'header', name: 'x-api-key' },
  token: { type: 'http', scheme: 'bearer' },
};

/**
 * What `/ogc` answers, in OpenAPI 3.0, without references to other documents. `base`: its absolute URL. `isGuarded`: whether
 * rules say who may read what.
 */
export const openApi = (base: string, isGuarded: boolean) => ({
  openapi: '3.0.3',
  info: { title: 'Cellport', version: '1.0.0', description: 'Markers of collections as OGC API Features and Tiles' },
  servers: [{ url: base }],
  paths: {
    '/': path('The landing page', 'landing', [], JSON_TYPE, 'Landing'),
    '/conformance': path('What is implemented', 'conformance', [], JSON_TYPE, 'Conformance'),
    '/api': path('This document', 'api', [], 'application/vnd.oai.openapi+json;version=3.0', 'Document'),
    '/collections': path('Collections', 'collections', ['cursor'], JSON_TYPE, 'Collections'),
    [COLLECTION]: path('A collection', 'collection', ['collectionId'], JSON_TYPE, 'Collection'),
    [`${COLLECTION}/queryables`]: path(
      'What a filter can name',
      'queryables',
      ['collectionId'],
      'application/schema+json',
      'Document',
    ),
    [`${COLLECTION}/items`]: path('Markers', 'items', ITEMS_PARAMETERS, GEOJSON, 'Features'),
    [`${COLLECTION}/items/{featureId}`]: path('A marker', 'item', ['collectionId', 'featureId'], GEOJSON, 'Feature'),
    [`${COLLECTION}/tiles`]: path('Tilesets', 'tilesets', ['collectionId'], JSON_TYPE, 'Tilesets'),
    [`${COLLECTION}/tiles/${SCHEME}`]: path('A tileset', 'tileset', ['collectionId'], JSON_TYPE, 'Tileset'),
    [`/tileMatrixSets/${SCHEME}`]: path('The tiling scheme', 'tileMatrixSet', [], JSON_TYPE, 'Document'),
    '/tiles/{collectionId}/{tileMatrix}/{tileCol}/{tileRow}': tile(base),
  },
  components: { parameters: PARAMETERS, schemas: SCHEMAS, ...(isGuarded && { securitySchemes: SECURITY }) },
  // Or neither, for what everyone may read.
  ...(isGuarded && { security: [{ apiKey: [] }, { token: [] }, {}] }),
});
