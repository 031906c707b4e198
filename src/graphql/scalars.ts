import { GraphQLError, GraphQLScalarType, Kind, valueFromASTUntyped, visit, type ValueNode } from 'graphql';

import { badInput } from '../errors.js';
import { readGeohash } from '../geo/geohash.js';
import { readInstant } from '../model/instant.js';
import { MAX_NESTING, pathTooDeep } from './execution/variables.js';

/** Creates a scalar of strings that validates literals and variables alike. */
function plainScalar<T>(name: string, read: (value: unknown) => T): GraphQLScalarType<T, unknown> {
  return new GraphQLScalarType({
    name,
    parseValue: read,
    parseLiteral: (node) => {
      if (node.kind === Kind.STRING) return read(node.value);
      if (node.kind === Kind.INT || node.kind === Kind.FLOAT) return read(Number(node.value));
      throw new GraphQLError(`${name} cannot be a ${node.kind}`, { nodes: node });
    },
  });
}

/**
 * Converts a JSON literal. Throws BAD_USER_INPUT if it is nested too deep, or has numbers that a double cannot
 * represent.
 */
function literal(
  name: string,
  node: ValueNode,
  variables: Readonly<Record<string, unknown>> | null | undefined,
): unknown {
  visit(node, {
    IntValue: (int) => {
      if (!Number.isSafeInteger(Number(int.value))) {
        throw badInput(name, int.value, 'without integers of more than 53 bits; write them as strings');
      }
    },
    FloatValue: (float) => {
      if (!Number.isFinite(Number(float.value))) throw badInput(name, float.value, 'without numbers beyond 1.8e308');
    },
  });
  const value = valueFromASTUntyped(node, variables);
  if (pathTooDeep(value) !== undefined) throw badInput(name, value, `nested at most ${MAX_NESTING} levels deep`);
  // Objects from literals have no prototype, so they would never equal those parsed from JSON.
  return structuredClone(value);
}

/** Creates a scalar of JSON values that `read` accepts. */
const jsonScalar = <T>(name: string, read: (value: unknown) => T) =>
  new GraphQLScalarType<T, unknown>({
    name,
    parseValue: read,
    parseLiteral: (node, variables) => read(literal(name, node, variables)),
  });

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const readObject = (value: unknown): Readonly<Record<string, unknown>> => {
  if (isObject(value)) return value;
  throw badInput('JSONObject', value, 'a JSON object');
};

const GEOJSON_TYPES = [
  'Point',
  'MultiPoint',
  'LineString',
  'MultiLineString',
  'Polygon',
  'MultiPolygon',
  'GeometryCollection',
  'Feature',
  'FeatureCollection',
];

const readGeoJson = (value: unknown): unknown => {
  if (isObject(value) && GEOJSON_TYPES.includes(String(value['type']))) return value;
  throw badInput('GeoJSON', value, `an object whose type is one of ${GEOJSON_TYPES.join(', ')}`);
};

/** The resolvers of the schema's scalars, which schema/scalars.graphql describes. */
export const scalars = {
  DateTime: plainScalar('DateTime', (value) => readInstant('DateTime', value)),
  Geohash: plainScalar('Geohash', (value) => readGeohash('Geohash', value)),
  // Whatever was sent: `readPoint` checks it, so that one wrong position in a batch is one failure.
  Latitude: new GraphQLScalarType({ name: 'Latitude' }),
  Longitude: new GraphQLScalarType({ name: 'Longitude' }),
  JSON: jsonScalar('JSON', (value) => value),
  JSONObject: jsonScalar('JSONObject', readObject),
  GeoJSON: jsonScalar('GeoJSON', readGeoJson),
};
