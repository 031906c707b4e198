// A plugin of `npm run codegen` that writes schema/tools.json: the tools of `cellport mcp`. Each is a query in
// schema/tools, described by the comment at its beginning. Its inputs are the variables, described like the arguments
// that they are passed to.
import { readFileSync } from 'node:fs';
import {
  getNullableType,
  isInputObjectType,
  isListType,
  isNonNullType,
  isRequiredInputField,
  print,
  typeFromAST,
  TypeInfo,
  valueFromASTUntyped,
  visit,
  visitWithTypeInfo,
} from 'graphql';

const SCALARS = {
  Int: { type: 'integer' },
  Float: { type: 'number' },
  Longitude: { type: 'number' },
  Latitude: { type: 'number', minimum: -90, maximum: 90 },
  Boolean: { type: 'boolean' },
  JSON: {},
  DateTime: { type: 'string', format: 'date-time' },
};
/** Variables that have no default in the query, as it depends on others. */
const COMPUTED = ['zoom'];

const onOneLine = (text) => text.replaceAll(/\s+/g, ' ').trim();

/** The JSON schema of an input. */
function schemaOf(type) {
  const own = getNullableType(type);
  if (isListType(own)) return { type: 'array', items: schemaOf(own.ofType) };
  if (!isInputObjectType(own)) return SCALARS[own.name] ?? { type: 'string' };
  const fields = Object.values(own.getFields());
  const described = fields.map(({ name, type: of, description }) => [
    name,
    { ...schemaOf(of), description: onOneLine(description) },
  ]);
  const required = fields.filter(isRequiredInputField).map(({ name }) => name);
  return { type: 'object', properties: Object.fromEntries(described), required, additionalProperties: false };
}

function toolOf(schema, { document, location }) {
  const info = new TypeInfo(schema);
  const properties = {};
  const required = [];
  const visitor = visitWithTypeInfo(info, {
    VariableDefinition({ variable: { name }, type: node, defaultValue }) {
      const type = typeFromAST(schema, node);
      const usual = defaultValue && { default: valueFromASTUntyped(defaultValue) };
      properties[name.value] = { ...schemaOf(type), ...usual };
      if (isNonNullType(type) && !defaultValue && !COMPUTED.includes(name.value)) required.push(name.value);
      return false;
    },
    Argument({ value }) {
      if (value.kind !== 'Variable') return;
      properties[value.name.value].description = onOneLine(info.getArgument().description);
    },
  });
  visit(document, visitor);
  const [, comment = ''] = /^((?:#.*\n)+)/.exec(readFileSync(location, 'utf8')) ?? [];
  const tool = {
    name: document.definitions[0].name.value,
    description: onOneLine(comment.replaceAll(/^#/gm, '')),
    inputSchema: { type: 'object', properties, required, additionalProperties: false },
    annotations: { readOnlyHint: true },
  };
  return { tool, query: onOneLine(print(document)) };
}

export const plugin = (schema, documents) =>
  `${JSON.stringify(
    documents.map((one) => toolOf(schema, one)),
    null,
    2,
  )}\n`;
