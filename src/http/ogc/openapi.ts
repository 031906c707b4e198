import { MOST_ITEMS } from '../../map/items.js';

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
const someText = { type: 'string', minLength: 1 };
const PARAMETERS = {
  collectionId: parameter('collectionId', 'The key of a collection', text, 'path'),
  featureId: parameter('featureId', 'The key of a marker', text, 'path'),
  f: parameter('f', 'The format; by default, Accept decides', { type: 'string', enum: ['json', 'html'] }),
  bbox: parameter('bbox', 'West, south, east and north in degrees; west > east crosses the antimeridian', {
    type: 'array',
    items: { type: 'number' },
    minItems: 4,
    maxItems: 6,
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
  cursor: parameter('cursor', 'Where the page begins, from the link `next` of the one before', someText),
};

const ref = (kind: string, name: string) => ({ $ref: `#/components/${kind}/${name}` });

/** A path that is answered by GET with JSON of a type and schema, or HTML. */
function path(summary: string, operationId: string, names: readonly string[], type: string, schema: string) {
  const parameters = [...names, 'f'].map((name) => ref('parameters', name));
  const answer = { [type]: { schema: ref('schemas', schema) }, 'text/html': { schema: text } };
  const failure = { 'application/json': { schema: ref('schemas', 'Errors') } };
  const responses = {
    200: { description: summary, content: answer },
    default: { description: 'Why the request is refused', content: failure },
  };
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
  Errors: object(['errors'], { errors: { type: 'array', items: object(['message'], { message: text }) } }),
};

const JSON_TYPE = 'application/json';
const GEOJSON = 'application/geo+json';
const COLLECTION = '/collections/{collectionId}';
const ITEMS_PARAMETERS = ['collectionId', 'bbox', 'limit', 'datetime', 'cursor'];

/** What `/ogc` answers, in OpenAPI 3.0, without references to other documents. `base`: its absolute URL. */
export const openApi = (base: string) => ({
  openapi: '3.0.3',
  info: { title: 'Cellport', version: '1.0.0', description: 'Markers of collections as OGC API Features' },
  servers: [{ url: base }],
  paths: {
    '/': path('The landing page', 'landing', [], JSON_TYPE, 'Landing'),
    '/conformance': path('What is implemented', 'conformance', [], JSON_TYPE, 'Conformance'),
    '/api': path('This document', 'api', [], 'application/vnd.oai.openapi+json;version=3.0', 'Document'),
    '/collections': path('Collections', 'collections', ['cursor'], JSON_TYPE, 'Collections'),
    [COLLECTION]: path('A collection', 'collection', ['collectionId'], JSON_TYPE, 'Collection'),
    [`${COLLECTION}/items`]: path('Markers', 'items', ITEMS_PARAMETERS, GEOJSON, 'Features'),
    [`${COLLECTION}/items/{featureId}`]: path('A marker', 'item', ['collectionId', 'featureId'], GEOJSON, 'Feature'),
  },
  components: { parameters: PARAMETERS, schemas: SCHEMAS },
});
