import { documentId, parseDocumentId, type Key } from './document-id.js';
import type { IndexAttributes } from './indexes.js';
import { compileTemplate, type Parts, type Template, type TemplateParts } from './template.js';

/** One index of an entity: the attributes that are its keys, and the templates that make them. */
export interface IndexDeclaration {
  readonly attributes: IndexAttributes;
  readonly pk: string;
  readonly sk?: string;
}

/** All that is said of an entity's keys; everything else follows from it. */
export interface EntityDeclaration {
  /** Names the entity in errors. */
  readonly name: string;
  readonly key: { readonly pk: string; readonly sk: string };
  readonly indexes?: Readonly<Record<string, IndexDeclaration>>;
  /** Parts that may be the empty text; all others must not. */
  readonly mayBeEmpty?: readonly string[];
}

type KeyParts<D extends EntityDeclaration> = TemplateParts<D['key']['pk']> & TemplateParts<D['key']['sk']>;
type IndexParts<I extends IndexDeclaration> = TemplateParts<I['pk']> &
  (I['sk'] extends string ? TemplateParts<I['sk']> : unknown);

export interface EntityIndex<P> {
  readonly pk: Template<P>;
  readonly sk: Template<P> | undefined;
  format(parts: P): Readonly<Record<string, string>>;
}

export interface Entity<D extends EntityDeclaration> {
  readonly name: string;
  readonly indexes: {
    readonly [I in keyof D['indexes']]: EntityIndex<IndexParts<NonNullable<D['indexes']>[I & string]>>;
  };
  format(parts: KeyParts<D>): Key;
  parse(key: Key): KeyParts<D> | undefined;
  documentId(parts: KeyParts<D>): string;
  parseDocumentId(id: string): KeyParts<D> | undefined;
}

export function defineEntity<const D extends EntityDeclaration>(declaration: D): Entity<D> {
  const compile = (source: string, role: 'partition' | 'sort'): Template =>
    compileTemplate({ source, role, owner: declaration.name, mayBeEmpty: declaration.mayBeEmpty ?? [] });
  const pk = compile(declaration.key.pk, 'partition');
  const sk = compile(declaration.key.sk, 'sort');

  const format = (parts: Parts): Key => ({ pk: pk.format(parts), sk: sk.format(parts) });
  const parse = (key: Key): Parts | undefined => {
    const fromPk = pk.parse(key.pk);
    const fromSk = fromPk && sk.parse(key.sk);
    if (!fromSk) return undefined;
    const parts = { ...fromPk, ...fromSk };
    const again = format(parts);
    return again.pk === key.pk && again.sk === key.sk ? parts : undefined;
  };
  const indexes = Object.fromEntries(
    Object.entries(declaration.indexes ?? {}).map(([name, index]) => {
      const indexPk = compile(index.pk, 'partition');
      const indexSk = index.sk === undefined ? undefined : compile(index.sk, 'sort');
      const made = (parts: Parts) => ({
        [index.attributes.pk]: indexPk.format(parts),
        ...(indexSk && index.attributes.sk ? { [index.attributes.sk]: indexSk.format(parts) } : {}),
      });
      return [name, { pk: indexPk, sk: indexSk, format: made }];
    }),
  );
  return {
    name: declaration.name,
    indexes,
    format,
    parse,
    documentId: (parts: Parts) => documentId(format(parts)),
    parseDocumentId: (id: string) => {
      const key = parseDocumentId(id);
      return key && parse(key);
    },
  } as unknown as Entity<D>;
}
