import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isSpecifiedDirective, Kind, parse, print, type DefinitionNode, type InputValueDefinitionNode } from 'graphql';
import { describe, expect, test } from 'vitest';

import { buildSchema } from '../../src/graphql/schema.js';
import { PROMISED } from './promised-fields.js';

const FOLDER = join(import.meta.dirname, '../../schema');
const definitions = readdirSync(FOLDER)
  .filter((file) => file.endsWith('.graphql'))
  .flatMap((file) => parse(readFileSync(join(FOLDER, file), 'utf8')).definitions);

const value = ({ name, type, defaultValue }: InputValueDefinitionNode) =>
  `${name.value}: ${print(type)}${defaultValue ? ` = ${print(defaultValue)}` : ''}`;

/** A definition as lines of test/graphql/promised-fields.ts. */
function signatures(definition: DefinitionNode): string[] {
  switch (definition.kind) {
    case Kind.SCALAR_TYPE_DEFINITION:
      return [`scalar ${definition.name.value}`];
    case Kind.ENUM_TYPE_DEFINITION:
      return [`enum ${definition.name.value} = ${definition.values?.map(({ name }) => name.value).join(' | ')}`];
    case Kind.UNION_TYPE_DEFINITION:
      return [`union ${definition.name.value} = ${definition.types?.map(({ name }) => name.value).join(' | ')}`];
    case Kind.INPUT_OBJECT_TYPE_DEFINITION:
      return (definition.fields ?? []).map((field) => `input ${definition.name.value}.${value(field)}`);
    case Kind.OBJECT_TYPE_DEFINITION:
    case Kind.INTERFACE_TYPE_DEFINITION: {
      const type = definition.name.value;
      const interfaces = (definition.interfaces ?? []).map(({ name }) => `${type} implements ${name.value}`);
      const fields = (definition.fields ?? []).map(({ name, arguments: args = [], type: result }) => {
        const list = args.length === 0 ? '' : `(${args.map(value).join(', ')})`;
        return `${type}.${name.value}${list}: ${print(result)}`;
      });
      return [...interfaces, ...fields];
    }
    default:
      throw new Error(`schema/ has a ${definition.kind}, which this test does not know`);
  }
}

/** The names of everything without a description in a definition. */
function undescribed(definition: DefinitionNode): string[] {
  const missing: string[] = [];
  const visit = (node: unknown, path: string) => {
    if (typeof node !== 'object' || node === null) return;
    const { kind, name, description } = node as { kind?: string; name?: { value: string }; description?: unknown };
    const here = name ? `${path}.${name.value}` : path;
    if (kind?.endsWith('Definition') && description === undefined) missing.push(here);
    for (const part of ['fields', 'arguments', 'values'] as const) {
      for (const inner of (node as Record<string, unknown[] | undefined>)[part] ?? []) visit(inner, here);
    }
  };
  visit(definition, '');
  return missing;
}

/** The object types without an ID, apart from the roots. */
const embedded = definitions.flatMap((each) =>
  each.kind === Kind.OBJECT_TYPE_DEFINITION &&
  !/^(Query|Mutation|Subscription)$/.test(each.name.value) &&
  !each.fields?.some(({ name }) => name.value === 'id')
    ? [each.name.value]
    : [],
);

test('docs/client.md names every type that a normalized cache cannot identify', () => {
  const docs = readFileSync(join(FOLDER, '../docs/client.md'), 'utf8');
  expect(/embedded = `([^`]*)`/.exec(docs)?.[1]?.split(/\s+/)).toEqual(embedded.toSorted());
});

test('docs/client.md has a type for every scalar', () => {
  const [, types = ''] =
    /scalars:\n((?: +\w+: .*\n)+)/.exec(readFileSync(join(FOLDER, '../docs/client.md'), 'utf8')) ?? [];
  const scalars = definitions.flatMap((each) => (each.kind === Kind.SCALAR_TYPE_DEFINITION ? [each.name.value] : []));
  expect(Array.from(types.matchAll(/^ +(\w+):/gm), ([, name]) => name)).toEqual(scalars.toSorted());
});

describe('the schema', () => {
  test('has exactly the promised fields with their arguments, types, nullability and defaults', () => {
    expect(definitions.flatMap(signatures).sort()).toEqual([...PROMISED].sort());
  });

  test('describes every type, field, argument and value', () => {
    expect(definitions.flatMap(undescribed)).toEqual([]);
  });

  test('describes the unit or meaning of every number', () => {
    const units =
      /\b(characters|degrees|meters|px|days|markers|collections|zones|features|readings|instants|partitions|positions|version|raised by 1|zoom|from 0|calls|read units|milliseconds|items)\b/i;
    const numbers = definitions.flatMap((definition) => {
      if (!('fields' in definition)) return [];
      return (definition.fields ?? []).flatMap((field) => {
        const name = `${definition.name.value}.${field.name.value}`;
        const args = ('arguments' in field ? (field.arguments ?? []) : []).map(
          (argument) => [`${name}(${argument.name.value})`, argument] as const,
        );
        return [[name, field] as const, ...args].filter(([, { type }]) => /\b(Int|Float)\b/.test(print(type)));
      });
    });
    expect(numbers.length).toBeGreaterThan(40);
    expect(
      numbers.filter(([, { description }]) => !units.test(description?.value ?? '')).map(([name]) => name),
    ).toEqual([]);
  });

  test('is built with its resolvers and no custom directives', () => {
    const schema = buildSchema();
    expect(schema.getDirectives().every(isSpecifiedDirective)).toBe(true);
  });
});
