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

const FAILURE = {
  description: 'The request is refused, with the reason',
  content: { 'application/json': { schema: { $ref: '#/components/schemas/Errors' } } },
};

const answer = (description: string, type: string, schema: string) => ({
  200: {
    description,
    content: { [type]: { schema: { $ref: `#/components/schemas/${schema}` } }, 'text/html': { schema: text } },
  },
  default: FAILURE,
});

const get = (summary: string, id: string, names: readonly string[], responses: object) => ({
  get: {
    summary,
    operationId: id,
    parameters: [...names, 'f'].map((name) => ({ $ref: `#/components/parameters/${name}` })),
    responses,
  },
});

const object = (required: readonly string[], properties: object) => ({ type: 'object', required, properties });
const listOf = (name: string) => ({ type: 'array', items: { $ref: `#/components/schemas/${name}` } });
const links = listOf('Link');

const SCHEMAS = {
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

/** What `/ogc` answers, in OpenAPI 3.0, without references to other documents. `base`: its absolute URL. */
export const openApi = (base: string) => ({
  openapi: '3.0.3',
  info: { title: 'Cellport', version: '1.0.0', description: 'Markers of collections as OGC API Features' },
  servers: [{ url: base }],
  paths: {
    '/': get('The landing page', 'landing', [], answer('Links', 'application/json', 'Landing')),
    '/conformance': get('What is implemented', 'conformance', [], answer('Classes', 'application/json', 'Conformance')),
    '/api': get('This document', 'api', [], {
      200: { description: 'OpenAPI', content: { 'application/vnd.oai.openapi+json;version=3.0': {}, 'text/html': {} } },
      default: FAILURE,
    }),
    '/collections': get('Collections', 'collections', ['cursor'], answer('Some', 'application/json', 'Collections')),
    '/collections/{collectionId}': get(
      'A collection',
      'collection',
      ['collectionId'],
      answer('It', 'application/json', 'Collection'),
    ),
    '/collections/{collectionId}/items': get(
      'Markers of a collection',
      'items',
      ['collectionId', 'bbox', 'limit', 'datetime', 'cursor'],
      answer('A page of them', 'application/geo+json', 'Features'),
    ),
    '/collections/{collectionId}/items/{featureId}': get(
      'A marker with all of its properties',
      'item',
      ['collectionId', 'featureId'],
      answer('It', 'application/geo+json', 'Feature'),
    ),
  },
  components: { parameters: PARAMETERS, schemas: SCHEMAS },
});
