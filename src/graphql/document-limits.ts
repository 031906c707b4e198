import {
  type DocumentNode,
  type FragmentDefinitionNode,
  Kind,
  Lexer,
  type SelectionSetNode,
  Source,
  TokenKind,
  parse,
} from 'graphql';
import { LRUCache } from 'lru-cache';

import { CellportError, limitExceeded } from '../errors.js';
import type { Limits } from '../model/limits.js';

/** The size of a document with its fragments expanded. */
interface Size {
  readonly depth: number;
  readonly aliases: number;
  readonly fields: number;
}

type Fragments = ReadonlyMap<string, FragmentDefinitionNode>;

const NOTHING: Size = { depth: 0, aliases: 0, fields: 0 };

/**
 * Maximum nesting of brackets. The parser recurses for each, so a document of nothing but brackets would overflow its
 * stack; far above any useful limit of depth.
 */
const MAX_NESTING = 250;

const OPENING = new Set<string>([TokenKind.BRACE_L, TokenKind.BRACKET_L, TokenKind.PAREN_L]);
const CLOSING = new Set<string>([TokenKind.BRACE_R, TokenKind.BRACKET_R, TokenKind.PAREN_R]);

/** Checks the tokens of a document without recursion. Syntax errors are left to the parser. */
function checkTokens(source: string, maxTokens: number): void {
  const lexer = new Lexer(new Source(source));
  let depth = 0;
  for (let count = 0; lexer.advance().kind !== TokenKind.EOF; count++) {
    if (count >= maxTokens) {
      throw limitExceeded(
        'number of tokens in the query',
        `more than ${maxTokens}`,
        maxTokens,
        'split it into several requests',
      );
    }
    if (OPENING.has(lexer.token.kind)) depth++;
    if (CLOSING.has(lexer.token.kind)) depth--;
    if (depth > MAX_NESTING) {
      throw limitExceeded('nesting of brackets in the query', `more than ${MAX_NESTING}`, MAX_NESTING, 'nest less');
    }
  }
}

const sum = (a: Size, b: Size): Size => ({
  depth: Math.max(a.depth, b.depth),
  aliases: a.aliases + b.aliases,
  fields: a.fields + b.fields,
});

/**
 * Measures selections with their fragments expanded. Each fragment is measured once however often it is spread, so
 * fragments that double each other take no time. A fragment inside itself counts as nothing: validation rejects it.
 */
function measurer(fragments: Fragments): (set: SelectionSetNode) => Size {
  const measured = new Map<string, Size>();

  function fragment(name: string): Size {
    const known = measured.get(name);
    if (known !== undefined) return known;
    const definition = fragments.get(name);
    if (definition === undefined) return NOTHING;
    measured.set(name, NOTHING);
    const size = selections(definition.selectionSet);
    measured.set(name, size);
    return size;
  }

  function selections(set: SelectionSetNode): Size {
    let size = NOTHING;
    for (const selection of set.selections) {
      if (selection.kind === Kind.FRAGMENT_SPREAD) {
        size = sum(size, sum(fragment(selection.name.value), { depth: 0, aliases: 0, fields: 1 }));
      } else {
        const inner = selection.selectionSet === undefined ? NOTHING : selections(selection.selectionSet);
        if (selection.kind === Kind.INLINE_FRAGMENT) {
          size = sum(size, inner);
        } else {
          size = sum(size, {
            // Introspection is deep by nature; graphql-js rejects queries that repeat its lists.
            depth: selection.name.value.startsWith('__') ? 1 : inner.depth + 1,
            aliases: inner.aliases + (selection.alias === undefined ? 0 : 1),
            fields: inner.fields + 1,
          });
        }
      }
    }
    return size;
  }

  return selections;
}

/** The fragments of a document by name. */
export function fragmentsOf(document: DocumentNode): Fragments {
  const fragments = new Map<string, FragmentDefinitionNode>();
  for (const definition of document.definitions) {
    if (definition.kind === Kind.FRAGMENT_DEFINITION) fragments.set(definition.name.value, definition);
  }
  return fragments;
}

/** The size of all operations of a document together; fragments that no operation uses count as written. */
function measure(document: DocumentNode, fragments: Fragments): Size {
  const selections = measurer(fragments);
  const asWritten = measurer(new Map());
  let used = NOTHING;
  let written = NOTHING;
  for (const definition of document.definitions) {
    if (definition.kind === Kind.OPERATION_DEFINITION) used = sum(used, selections(definition.selectionSet));
    if ('selectionSet' in definition) written = sum(written, asWritten(definition.selectionSet));
  }
  return {
    depth: Math.max(used.depth, written.depth),
    aliases: Math.max(used.aliases, written.aliases),
    fields: Math.max(used.fields, written.fields),
  };
}

/**
 * Maximum number of selections that merge into one field of the response. Validation compares each with each, so a
 * document of nothing else would keep it busy for half a second within the other limits.
 */
const MAX_EQUAL_FIELDS = 50;

/** How many selections merge into the most selected field of the response; stops counting after `budget` selections. */
function equalFields(document: DocumentNode, fragments: Fragments, budget: number): number {
  let left = budget;
  let most = 0;
  const counts = new Map<string, number>();

  function walk(set: SelectionSetNode, path: string, inside: readonly string[]): void {
    for (const selection of set.selections) {
      if (left-- <= 0) return;
      if (selection.kind === Kind.FIELD) {
        const here = `${path}.${(selection.alias ?? selection.name).value}`;
        const count = (counts.get(here) ?? 0) + 1;
        counts.set(here, count);
        most = Math.max(most, count);
        if (selection.selectionSet) walk(selection.selectionSet, here, inside);
      } else if (selection.kind === Kind.INLINE_FRAGMENT) {
        walk(selection.selectionSet, path, inside);
      } else {
        const name = selection.name.value;
        const fragment = fragments.get(name);
        if (fragment && !inside.includes(name)) walk(fragment.selectionSet, path, [...inside, name]);
      }
    }
  }

  for (const [index, definition] of document.definitions.entries()) {
    // Fragments are validated on their own, too, even if unused.
    if ('selectionSet' in definition) walk(definition.selectionSet, String(index), []);
  }
  return most;
}

/**
 * Throws LIMIT_EXCEEDED naming what a document has too much of, or the parser's GraphQLError. This comes before
 * validation, which compares fields with each other and takes half a second for 2,000 equal ones.
 */
export function checkDocument(source: string, limits: Limits): void {
  checkTokens(source, limits.maxTokens);
  const document = parse(source, { noLocation: true });
  const fragments = fragmentsOf(document);
  const { depth, aliases, fields } = measure(document, fragments);
  const equal = equalFields(document, fragments, 2 * limits.maxFields);
  const split = 'split it into several requests';
  for (const [what, value, limit, advice] of [
    ['depth of the query', depth, limits.maxDepth, 'nest fewer fields'],
    ['number of aliases in the query', aliases, limits.maxAliases, split],
    ['number of fields in the query', fields, limits.maxFields, split],
    ['number of equal fields at one place of the query', equal, MAX_EQUAL_FIELDS, 'select each of them once'],
  ] as const) {
    if (value > limit) throw limitExceeded(what, value, limit, advice);
  }
}

/** Characters of the documents that are remembered as being within the limits. */
const REMEMBERED_CHARACTERS = 8 * 1024 * 1024;

/** `checkDocument` under these limits, once for each text. What cannot be parsed passes: the parser will report it. */
export function documentChecker(limits: Limits): (source: string) => void {
  const known = new LRUCache<string, true>({
    maxSize: REMEMBERED_CHARACTERS,
    sizeCalculation: (_, text) => text.length + 1,
  });
  return (source) => {
    if (known.has(source)) return;
    try {
      checkDocument(source, limits);
    } catch (error) {
      if (error instanceof CellportError) throw error;
      return;
    }
    known.set(source, true);
  };
}
