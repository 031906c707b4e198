import { derivedPart, type Derivation, type Ingredients } from './derive.js';
import { documentId, parseDocumentId, type Key } from './document-id.js';
import type {
  EntityDeclaration,
  IndexDeclaration,
  IndexIngredients,
  IndexNames,
  IndexText,
  KeyIngredients,
  KeyStyle,
  TemplateSource,
  Text,
} from './entity-types.js';
import type { KeyRole } from './escape.js';
import type { Parts, PartValue, TemplateParts } from './template-types.js';
import { compileTemplate, type Template } from './template.js';

/** The keys of one index as a function of their ingredients. */
export interface EntityIndex<Needed = Ingredients, Pk = Template, Sk = Template | undefined> {
  readonly pk: Pk;
  /** Undefined for an index without a sort key. */
  readonly sk: Sk;
  /** All ingredients of its keys: an update that touches the index needs every one of them. */
  readonly ingredients: readonly string[];
  /** The attributes that put an item into the index; none if an optional part is missing, which keeps the item out. */
  format(ingredients: Needed): Readonly<Record<string, string>>;
}

/** Everything derived from the declaration of an entity's keys. */
export interface Entity<
  Needed = Ingredients,
  PkParts = Parts,
  SkParts = Parts,
  Indexes = Readonly<Record<string, EntityIndex>>,
  IndexesNeeded = Ingredients,
> {
  readonly name: string;
  readonly pk: Template<PkParts>;
  readonly sk: Template<SkParts>;
  readonly indexes: Indexes;
  /** The primary key. Throws BAD_USER_INPUT naming the part that is missing, empty or too long. */
  format(ingredients: Needed): Key;
  /** The parts of a key of this entity; undefined for any other key, including other encodings of the same parts. */
  parse(key: Key): (PkParts & SkParts) | undefined;
  /** `<pk>#<sk>`, which identifies the item outside DynamoDB. */
  documentId(ingredients: Needed): string;
  /** The parts of a document ID of this entity; undefined for any other text. */
  parseDocumentId(id: string): (PkParts & SkParts) | undefined;
  /** The attributes of all its indexes, each as formatted by its own `format`. */
  indexKeys(ingredients: IndexesNeeded): Readonly<Record<string, string>>;
  /** The indexes whose keys may change with these values, so that an update must rewrite them. */
  touchedIndexes(changed: Iterable<string>): (keyof Indexes)[];
}

type IndexKey<D extends EntityDeclaration, N extends IndexNames<D>, K extends 'pk' | 'sk'> =
  IndexText<D, N, K> extends infer T extends string
    ? [T] extends [never]
      ? undefined
      : Template<TemplateParts<T>>
    : never;

/** The entity for a declaration, typed from its templates. */
export type EntityOf<D extends EntityDeclaration> = Entity<
  KeyIngredients<D>,
  TemplateParts<Text<D['key']['pk']>>,
  TemplateParts<Text<D['key']['sk']>>,
  {
    readonly [N in IndexNames<D>]: EntityIndex<IndexIngredients<D, N>, IndexKey<D, N, 'pk'>, IndexKey<D, N, 'sk'>>;
  },
  IndexIngredients<D, IndexNames<D>>
>;

/**
 * Derives everything from the declaration of an entity's keys in one style. Throws an Error for a declaration whose
 * keys would be ambiguous.
 */
export function defineEntity<const D extends EntityDeclaration>(
  declaration: D,
  style: KeyStyle = 'readable',
): EntityOf<D> {
  const { name, derived = {} }: EntityDeclaration = declaration;
  const compile = (source: TemplateSource, role: KeyRole): Template =>
    compileTemplate<string>({
      source: typeof source === 'string' ? source : source[style],
      role,
      owner: name,
      mayBeEmpty: Object.keys(derived),
    });
  const pk = compile(declaration.key.pk, 'partition');
  const sk = compile(declaration.key.sk, 'sort');
  const partsOf = partsMaker([pk, sk], derived);
  const indexes = Object.entries(declaration.indexes ?? {}).map(
    ([index, keys]) => [index, entityIndex(keys, derived, compile)] as const,
  );

  const entity: Entity = {
    name,
    pk,
    sk,
    indexes: Object.fromEntries(indexes),
    format(ingredients) {
      const parts = partsOf(ingredients);
      return { pk: pk.format(parts), sk: sk.format(parts) };
    },
    parse(key) {
      const fromPk = pk.parse(key.pk);
      const fromSk = fromPk && sk.parse(key.sk);
      const agree = fromSk && Object.keys(fromSk).every((part) => !(part in fromPk) || fromPk[part] === fromSk[part]);
      return agree ? { ...fromPk, ...fromSk } : undefined;
    },
    documentId: (ingredients) => documentId(entity.format(ingredients)),
    parseDocumentId(id) {
      const key = parseDocumentId(id);
      return key && entity.parse(key);
    },
    indexKeys: (ingredients) => Object.assign({}, ...indexes.map(([, index]) => index.format(ingredients))),
    touchedIndexes(changed) {
      const values = new Set(changed);
      return indexes.filter(([, index]) => index.ingredients.some((one) => values.has(one))).map(([index]) => index);
    },
  };
  // Internally, parts are looked up by names that the compiler cannot follow; externally, their types follow from the
  // declaration.
  return entity as unknown as EntityOf<D>;
}

type Derived = Readonly<Record<string, Derivation>>;

function entityIndex(
  { attributes, ...sources }: IndexDeclaration,
  derived: Derived,
  compile: (source: TemplateSource, role: KeyRole) => Template,
): EntityIndex {
  const pk = compile(sources.pk, 'partition');
  const sk = sources.sk === undefined ? undefined : compile(sources.sk, 'sort');
  const templates = sk ? [pk, sk] : [pk];
  const partsOf = partsMaker(templates, derived);
  const optional = templates.flatMap((template) => template.optional);
  return {
    pk,
    sk,
    ingredients: [...new Set(templates.flatMap(({ names }) => names.flatMap((name) => madeFrom(name, derived))))],
    format(ingredients) {
      const parts = partsOf(ingredients);
      if (optional.some((name) => parts[name] === undefined)) return {};
      const keys = { [attributes.pk]: pk.format(parts) };
      return sk && attributes.sk ? { ...keys, [attributes.sk]: sk.format(parts) } : keys;
    },
  };
}

function madeFrom(name: string, derived: Derived): readonly string[] {
  return derived[name] ? Object.keys(derived[name].from) : [name];
}

function partsMaker(templates: readonly Template[], derived: Derived): (ingredients: Ingredients) => Parts {
  const makers = templates
    .flatMap((template) => template.names)
    .map((name) => {
      const given = (ingredients: Ingredients) => ingredients[name];
      return [name, derived[name] ? derivedPart(derived[name]) : given] as const;
    });
  return (ingredients) => {
    const parts: Record<string, PartValue | undefined> = {};
    // The template rejects numbers, as it does all values other than text.
    for (const [name, make] of makers) parts[name] = make(ingredients) as PartValue | undefined;
    return parts;
  };
}
