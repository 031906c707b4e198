import {
  Kind,
  Lexer,
  parse,
  Source,
  TokenKind,
  type DocumentNode,
  type FragmentDefinitionNode,
  type SelectionSetNode,
} from 'graphql';

import { limitExceeded } from '../../errors.js';
import type { Limits } from '../../model/limits.js';
import { comparisonsIn, valuesOf, type Fragments } from './compared-fields.js';

/** The size of a document with its fragments expanded. */
interface Size {
  readonly depth: number;
  readonly aliases: number;
  readonly fields: number;
  /** Values in arguments, including list items and fields of input objects. */
  readonly values: number;
}

const NOTHING: Size = { depth: 0, aliases: 0, fields: 0, values: 0 };

/**
 * Maximum nesting of brackets, far above any useful depth. The parser recurses for each, so a document of nothing but
 * brackets would overflow the stack.
 */
const MAX_NESTING = 250;

const OPENING = new Set<string>([TokenKind.BRACE_L, TokenKind.BRACKET_L, TokenKind.PAREN_L]);
const CLOSING = new Set<string>([TokenKind.BRACE_R, TokenKind.BRACKET_R, TokenKind.PAREN_R]);

/** Maximum length of a name, far above any in the schema. Messages and answers repeat names. */
const MAX_NAME = 250;

const SPLIT = 'split it into several requests';

/** Throws LIMIT_EXCEEDED if the UTF-8 text of a document is longer than the limit. */
function checkBytes(source: string, maxBytes: number): void {
  // Every character takes at least a byte, so a text that is far too long need not be encoded.
  const bytes = source.length > maxBytes ? source.length : Buffer.byteLength(source);
  if (bytes <= maxBytes) return;
  const found = source.length > maxBytes ? `more than ${maxBytes} bytes` : bytes;
  throw limitExceeded('size of the query', found, maxBytes, 'pass long values as variables');
}

/** Checks the number of tokens of a document, without recursion. Syntax errors are left to the parser. */
function checkTokens(source: string, maxTokens: number): void {
  const lexer = new Lexer(new Source(source));
  let depth = 0;
  let count = 0;
  for (; lexer.advance().kind !== TokenKind.EOF; count++) {
    const { kind, start, end } = lexer.token;
    if (count >= maxTokens) {
      throw limitExceeded('number of tokens in the query', `more than ${maxTokens}`, maxTokens, SPLIT);
    }
    if (kind === TokenKind.NAME && end - start > MAX_NAME) {
      throw limitExceeded('length of a name in the query', end - start, MAX_NAME, 'choose a shorter name');
    }
    if (OPENING.has(kind)) depth++;
    if (CLOSING.has(kind)) depth--;
    if (depth > MAX_NESTING) {
      throw limitExceeded('nesting of brackets in the query', `more than ${MAX_NESTING}`, MAX_NESTING, 'nest less');
    }
  }
}

const sum = (a: Size, b: Size): Size => ({
  depth: Math.max(a.depth, b.depth),
  aliases: a.aliases + b.aliases,
  fields: a.fields + b.fields,
  values: a.values + b.values,
});

/**
 * Returns a function that measures selections with their fragments expanded. Each fragment is measured once however
 * often it is spread, so fragments that double each other cost nothing extra. A fragment that contains itself counts as
 * zero: validation rejects it.
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
      const own = { ...NOTHING, values: valuesOf(selection) };
      if (selection.kind === Kind.FRAGMENT_SPREAD) {
        size = sum(size, sum(fragment(selection.name.value), { ...own, fields: 1 }));
      } else {
        const inner = selection.selectionSet === undefined ? NOTHING : selections(selection.selectionSet);
        if (selection.kind === Kind.INLINE_FRAGMENT) {
          size = sum(size, sum(inner, own));
        } else {
          size = sum(size, {
            // Introspection queries are deep by nature; graphql-js rejects those that repeat its lists.
            depth: selection.name.value.startsWith('__') ? 1 : inner.depth + 1,
            aliases: inner.aliases + (selection.alias === undefined ? 0 : 1),
            fields: inner.fields + 1,
            values: inner.values + own.values,
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

/** The combined size of all operations of a document; fragments that no operation uses count once. */
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
    values: Math.max(used.values, written.values),
  };
}

/**
 * Maximum number of selections that merge into one response field. Validation compares each pair, so a document with
 * nothing else would keep it busy for half a second within the other limits.
 */
const MAX_EQUAL_FIELDS = 50;
/** Maximum total of these comparisons, weighted by the length of arguments: 50 fields compared with 49 take 2,450. */
const MAX_COMPARISONS = 10_000;
/** Validation rules follow fragments separately for each operation. */
const MAX_OPERATIONS = 100;

/** Throws LIMIT_EXCEEDED naming the limit that the document exceeds. */
function checkForm(document: DocumentNode, limits: Limits): void {
  const fragments = fragmentsOf(document);
  const { depth, aliases, fields, values } = measure(document, fragments);
  const { most, cost } = comparisonsIn(document, fragments, 2 * limits.maxFields);
  const operations = document.definitions.filter(({ kind }) => kind === Kind.OPERATION_DEFINITION).length;
  const once = 'select each field once';
  for (const [what, value, limit, advice] of [
    ['depth of the query', depth, limits.maxDepth, 'nest fewer fields'],
    ['number of aliases in the query', aliases, limits.maxAliases, SPLIT],
    ['number of fields in the query', fields, limits.maxFields, SPLIT],
    ['number of values in the query', values, limits.maxTokens, SPLIT],
    ['number of operations in the query', operations, MAX_OPERATIONS, SPLIT],
    ['number of identical fields in one selection of the query', most, MAX_EQUAL_FIELDS, once],
    ['number of comparisons of identical fields and fragments in the query', cost, MAX_COMPARISONS, once],
  ] as const) {
    if (value > limit) throw limitExceeded(what, value, limit, advice);
  }
}

/**
 * Parses a document within the limits. Throws LIMIT_EXCEEDED naming the limit exceeded, or the parser's GraphQLError.
 * Runs before validation, which compares fields with each other and takes half a second for 2,000 identical ones.
 */
export function readDocument(text: string, limits: Limits): DocumentNode {
  checkBytes(text, limits.maxDocumentBytes);
  checkTokens(text, limits.maxTokens);
  const source = new Source(text);
  const document = parse(source);
  // graphql-js would count the lines of the text again for each location of each error: 50,000 lines with 100 errors
  // took 1.3 s. Tokens already have their locations.
  source.body = '';
  checkForm(document, limits);
  return document;
}

/** A token takes up to 370 bytes with its place, its share of the tree, and what validation remembers of that. */
const BYTES_OF_TOKEN = 500;

/** The approximate memory of a parsed document in bytes, with its text, from which its names are cut. */
export function documentBytes({ loc }: DocumentNode): number {
  let bytes = loc?.end ?? 0;
  for (let token = loc?.startToken; token; token = token.next ?? undefined) bytes += BYTES_OF_TOKEN;
  return bytes;
}
