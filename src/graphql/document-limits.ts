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

/** How much a document asks for once its fragments stand where they are spread. */
interface Size {
  readonly depth: number;
  readonly aliases: number;
  readonly fields: number;
}

type Fragments = ReadonlyMap<string, FragmentDefinitionNode>;

const NOTHING: Size = { depth: 0, aliases: 0, fields: 0 };

/**
 * Brackets inside brackets that are still parsed. The parser calls itself for each, so that without a bound a document
 * of nothing but brackets would end its stack; far more than any limit of depth worth having.
 */
const DEEPEST_BRACKETS = 250;

const OPENING = new Set<string>([TokenKind.BRACE_L, TokenKind.BRACKET_L, TokenKind.PAREN_L]);
const CLOSING = new Set<string>([TokenKind.BRACE_R, TokenKind.BRACKET_R, TokenKind.PAREN_R]);

/** Reads the document's tokens, which takes no stack. A document that cannot be read is left to the parser's message. */
function checkTokens(source: string, maxTokens: number): void {
  const lexer = new Lexer(new Source(source));
  let depth = 0;
  for (let count = 0; lexer.advance().kind !== TokenKind.EOF; count++) {
    if (count >= maxTokens) {
      throw limitExceeded('tokens of the query', `more than ${maxTokens}`, maxTokens, 'ask in several requests');
    }
    if (OPENING.has(lexer.token.kind)) depth++;
    if (CLOSING.has(lexer.token.kind)) depth--;
    if (depth > DEEPEST_BRACKETS) {
      throw limitExceeded('nesting of the query', `more than ${DEEPEST_BRACKETS}`, DEEPEST_BRACKETS, 'nest less');
    }
  }
}

const beside = (a: Size, b: Size): Size => ({
  depth: Math.max(a.depth, b.depth),
  aliases: a.aliases + b.aliases,
  fields: a.fields + b.fields,
});

/**
 * Measures selections with their fragments in place. Each fragment is measured once however often it is spread, so that
 * fragments that double each other cost no time, only counts. A fragment inside itself counts as nothing there: such a
 * document is refused by validation, which never gets slow over it.
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
        size = beside(size, beside(fragment(selection.name.value), { depth: 0, aliases: 0, fields: 1 }));
      } else {
        const inner = selection.selectionSet === undefined ? NOTHING : selections(selection.selectionSet);
        if (selection.kind === Kind.INLINE_FRAGMENT) {
          size = beside(size, inner);
        } else {
          size = beside(size, {
            // Introspection is deep by nature; graphql-js refuses what would repeat its lists.
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

function fragmentsOf(document: DocumentNode): Fragments {
  const fragments = new Map<string, FragmentDefinitionNode>();
  for (const definition of document.definitions) {
    if (definition.kind === Kind.FRAGMENT_DEFINITION) fragments.set(definition.name.value, definition);
  }
  return fragments;
}

/** The size of all a document's operations together; what no operation uses counts as written. */
function measure(document: DocumentNode, fragments: Fragments): Size {
  const selections = measurer(fragments);
  const asWritten = measurer(new Map());
  let used = NOTHING;
  let written = NOTHING;
  for (const definition of document.definitions) {
    if (definition.kind === Kind.OPERATION_DEFINITION) used = beside(used, selections(definition.selectionSet));
    if ('selectionSet' in definition) written = beside(written, asWritten(definition.selectionSet));
  }
  return {
    depth: Math.max(used.depth, written.depth),
    aliases: Math.max(used.aliases, written.aliases),
    fields: Math.max(used.fields, written.fields),
  };
}

/**
 * The most fields that fall together into one of the answer: the same name at the same place. A document within the other
 * limits that consists of them alone would still keep validation busy for half a second, as it compares each with each.
 */
const MOST_EQUAL_FIELDS = 50;

/** How often the most frequent name at one place of the answer is asked for; gives up counting after `budget` selections. */
function equalFields(document: DocumentNode, fragments: Fragments, budget: number): number {
  let left = budget;
  let most = 0;
  const counts = new Map<string, number>();

  function walk(set: SelectionSetNode, place: string, inside: readonly string[]): void {
    for (const selection of set.selections) {
      if (left-- <= 0) return;
      if (selection.kind === Kind.FIELD) {
        const here = `${place}.${(selection.alias ?? selection.name).value}`;
        const count = (counts.get(here) ?? 0) + 1;
        counts.set(here, count);
        most = Math.max(most, count);
        if (selection.selectionSet) walk(selection.selectionSet, here, inside);
      } else if (selection.kind === Kind.INLINE_FRAGMENT) {
        walk(selection.selectionSet, place, inside);
      } else {
        const name = selection.name.value;
        const fragment = fragments.get(name);
        if (fragment && !inside.includes(name)) walk(fragment.selectionSet, place, [...inside, name]);
      }
    }
  }

  for (const [index, definition] of document.definitions.entries()) {
    // Fragments are validated on their own as well, be they used or not.
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
  const size = measure(document, fragments);
  if (size.depth > limits.maxDepth) {
    throw limitExceeded('depth of the query', size.depth, limits.maxDepth, 'ask for fewer fields inside fields');
  }
  if (size.aliases > limits.maxAliases) {
    throw limitExceeded('aliases in the query', size.aliases, limits.maxAliases, 'ask in several requests');
  }
  if (size.fields > limits.maxFields) {
    throw limitExceeded('fields of the query', size.fields, limits.maxFields, 'ask in several requests');
  }
  const equal = equalFields(document, fragments, 2 * limits.maxFields);
  if (equal > MOST_EQUAL_FIELDS) {
    throw limitExceeded(
      'equal fields at one place of the query',
      equal,
      MOST_EQUAL_FIELDS,
      'ask for each of them once',
    );
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
