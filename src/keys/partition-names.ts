import { CELL, ENTITIES } from './declarations.js';
import type { EntityDeclaration, KeyStyle } from './entity-types.js';
import { type Entity, defineEntity } from './entity.js';
import type { Parts } from './template-types.js';

/** The entity whose items are under a partition key, and what the key says about them. */
export interface NamedPartition {
  readonly entity: string;
  readonly parts: Parts;
}

/** Compact keys of cells have any purpose, so that other entities come first. */
const IN_ORDER: readonly EntityDeclaration[] = [...ENTITIES.filter((entity) => entity !== CELL), CELL];

/** A function that names partition keys of the tables (index null) and of their indexes, in one style. */
export function partitionNames(style: KeyStyle): (index: string | null, pk: string) => NamedPartition | undefined {
  const entities: readonly Entity[] = IN_ORDER.map((declaration) =>
    defineEntity<EntityDeclaration>(declaration, style),
  );
  return (index, pk) => {
    for (const { name: entity, pk: own, indexes } of entities) {
      const template = index === null ? own : indexes[index]?.pk;
      const parts = template?.parse(pk);
      if (parts !== undefined) return { entity, parts };
    }
    return undefined;
  };
}
