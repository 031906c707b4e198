/** `cellport/keys`: the key convention for your own entities, declared the way Cellport declares its own. */
export { CellportError } from '../errors.js';
export { derive, type Derivation } from './derive.js';
export type { Key } from './document-id.js';
export type { EntityDeclaration, IndexDeclaration, KeyStyle } from './entity-types.js';
export { defineEntity, type Entity, type EntityIndex, type EntityOf } from './entity.js';
export type { SortRange, Template } from './template.js';
