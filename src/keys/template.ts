import { badInput, type CellportError } from '../errors.js';
import {
  AFTER_SEPARATOR,
  byteLength,
  escapePart,
  fits,
  isWellFormed,
  KEY_BYTES,
  SEPARATOR,
  unescapePart,
  type KeyRole,
} from './escape.js';
import type { Parts, PartValue, TemplateParts } from './template-types.js';

/** A text value in a key. */
interface TextValue {
  readonly name: string;
  /** Written `{name:2}`: the number of its characters, none of which needs escaping. */
  readonly width: number | undefined;
}

/** A part in braces that has a single text value. */
interface TextPart extends TextValue {
  /** Written `{name?}`: an item without this part is not in the index. */
  readonly optional: boolean;
}

/** The text between two separators: literal text and parts, or a list that expands to any number of segments. */
type Segment = { readonly list: string } | { readonly tokens: readonly (string | TextPart)[] };

/** `{name}`, `{name?}`, `{name*}`, `{name:2}`, or literal text. */
const TOKEN = /\{([A-Za-z][A-Za-z0-9]*)(?:([?*])|:([1-9][0-9]*))?\}|[^{}]+/g;

/**
 * Parses a template's source into segments. Throws an Error if its keys would be ambiguous: adjacent parts without a
 * fixed width, two lists, a name used twice, literal text that needs escaping.
 */
function parseSource(source: string, role: KeyRole): readonly Segment[] {
  const segments = source.split(SEPARATOR).map((text) => parseSegment(text, role, source));
  const names = segments.flatMap(textParts).map(({ name }) => name);
  const lists = segments.flatMap((segment) => ('list' in segment ? [segment.list] : []));
  if (lists.length > 1 || new Set([...names, ...lists]).size < names.length + lists.length) {
    throw new Error(`template "${source}" has two lists or names a part twice`);
  }
  return segments;
}

/** The parts of a segment that have a single text value. */
function textParts(segment: Segment): readonly TextPart[] {
  return 'list' in segment ? [] : segment.tokens.filter((token) => typeof token !== 'string');
}

function parseSegment(text: string, role: KeyRole, source: string): Segment {
  const matches = [...text.matchAll(TOKEN)];
  const [only] = matches;
  if (matches.length === 1 && only?.[1] && only[2] === '*') return { list: only[1] };

  const tokens = matches.map(([literal, name, mark, width]) =>
    name ? { name, optional: mark === '?', width: width ? Number(width) : undefined } : literal,
  );
  const literals = tokens.filter((token) => typeof token === 'string').join('');
  const open = tokens.filter((token) => typeof token !== 'string' && token.width === undefined);
  const understood = matches.map(([match]) => match).join('') === text && matches.every(([, , mark]) => mark !== '*');
  if (text === '' || !understood || open.length > 1 || escapePart(literals, role) !== literals) {
    throw new Error(`template "${source}" is ambiguous at "${text}"`);
  }
  return { tokens };
}

/** Inclusive bounds of a BETWEEN on a sort key. */
export interface SortRange {
  readonly from: string;
  readonly to: string;
}

/** Bounds of sort keys within one partition. */
export interface PartitionRange extends SortRange {
  readonly pk: string;
}

/** Formats a key from its parts and parses it back, as pure functions. */
export interface Template<P = Parts> {
  readonly source: string;
  /** The names of its parts; `optional` has those written `{name?}`. */
  readonly names: readonly string[];
  readonly optional: readonly string[];
  /** Formats a key. Throws BAD_USER_INPUT naming the part that is missing, empty or too long for DynamoDB. */
  format(parts: P): string;
  /** Parses a key; undefined for text that `format` never returns. parse(format(x)) = x, format(parse(y)) = y. */
  parse(text: string): P | undefined;
  /**
   * Bounds of exactly the keys that begin with these leading parts and continue after them. Throws an Error if the
   * template's first part is missing: that would be the whole partition.
   */
  rangeUnder(leading: Partial<P>): SortRange;
}

export interface TemplateOptions<T extends string> {
  readonly source: T;
  readonly role: KeyRole;
  /** The owner of the key, which precedes the part's name in errors. */
  readonly owner: string;
  /** Parts that may be empty, for example the prefix of a geohash of three characters. */
  readonly mayBeEmpty?: readonly string[];
}

/** The rules of a template for formatting and parsing a part. */
interface Rules {
  readonly role: KeyRole;
  readonly owner: string;
  readonly mayBeEmpty: ReadonlySet<string>;
}

/** Compiles a template. Throws an Error if its keys would be ambiguous. */
export function compileTemplate<const T extends string>(options: TemplateOptions<T>): Template<TemplateParts<T>> {
  const { source, role, owner } = options;
  const rules: Rules = { role, owner, mayBeEmpty: new Set(options.mayBeEmpty) };
  const segments = parseSource(source, role);
  const parts = segments.flatMap(textParts);
  const lists = segments.flatMap((segment) => ('list' in segment ? [segment.list] : []));
  const names = [...parts.map(({ name }) => name), ...lists];

  const template: Template = {
    source,
    names,
    optional: parts.filter((part) => part.optional).map(({ name }) => name),
    format(values) {
      const text = written(segments, values, rules);
      if (text === '') throw badInput(`${owner}.${names.join(', ')}`, text, 'not all empty');
      if (!fits(text, KEY_BYTES[role])) throw tooLong(text, names, values, rules);
      return text;
    },
    parse(text) {
      const pieces = text.split(SEPARATOR);
      const listed = pieces.length - (segments.length - lists.length);
      if (listed < 0 || (listed > 0 && lists.length === 0) || !fits(text, KEY_BYTES[role])) return undefined;
      const found: Record<string, PartValue> = {};
      let next = 0;
      for (const segment of segments) {
        const own = pieces.slice(next, (next += 'list' in segment ? listed : 1));
        if (!readSegment(segment, own, rules, found)) return undefined;
      }
      return isWellFormed(text) ? found : undefined;
    },
    rangeUnder(leading) {
      const unknown = segments.findIndex((segment) => !isKnown(segment, leading));
      const start = written(unknown < 0 ? segments : segments.slice(0, unknown), leading, rules);
      if (start === '') throw new Error(`a range of "${source}" requires its leading parts`);
      return { from: start + SEPARATOR, to: start + AFTER_SEPARATOR };
    },
  };
  // Internally, parts are looked up by names that the compiler cannot follow; externally, their types follow from the
  // source.
  return template as unknown as Template<TemplateParts<T>>;
}

function isKnown(segment: Segment, values: Parts): boolean {
  if ('list' in segment) return values[segment.list] !== undefined;
  return textParts(segment).every(({ name }) => values[name] !== undefined);
}

function written(segments: readonly Segment[], values: Parts, rules: Rules): string {
  let text: string | undefined;
  for (const segment of segments) {
    const piece =
      'tokens' in segment ? tokensWritten(segment.tokens, values, rules) : listWritten(segment.list, values, rules);
    if (piece !== undefined) text = text === undefined ? piece : text + SEPARATOR + piece;
  }
  return text ?? '';
}

function tokensWritten(tokens: readonly (string | TextPart)[], values: Parts, rules: Rules): string {
  let text = '';
  for (const token of tokens) text += typeof token === 'string' ? token : writtenPart(token, values[token.name], rules);
  return text;
}

/** Undefined for an empty list. */
function listWritten(name: string, values: Parts, rules: Rules): string | undefined {
  const list = values[name];
  if (!Array.isArray(list)) throw badInput(`${rules.owner}.${name}`, list, 'a list of text values');
  if (list.length === 0) return undefined;
  const partOf = (index: number) => ({ name: `${name}[${index}]`, width: undefined });
  return list.map((text: unknown, index) => writtenPart(partOf(index), text, rules)).join(SEPARATOR);
}

function writtenPart({ name, width }: TextValue, value: unknown, rules: Rules): string {
  const refused = (allowed: string) => badInput(`${rules.owner}.${name}`, value, allowed);
  if (typeof value !== 'string' || (value === '' && !rules.mayBeEmpty.has(name))) throw refused('non-empty text');
  if (!isWellFormed(value)) throw refused('well-formed Unicode, without lone surrogates');
  const text = escapePart(value, rules.role);
  if (width !== undefined && (value.length !== width || text !== value)) {
    throw refused(`text of exactly ${width} characters other than ":", "%" and "#"`);
  }
  return text;
}

/** Parses the texts of a segment into `found`; false if they do not match it. */
function readSegment(
  segment: Segment,
  pieces: readonly string[],
  rules: Rules,
  found: Record<string, PartValue>,
): boolean {
  if ('list' in segment) {
    const texts = pieces.map((piece) => readPart({ name: segment.list, width: undefined }, piece, rules));
    found[segment.list] = texts.filter((text) => text !== undefined);
    return !texts.includes(undefined);
  }
  const piece = pieces[0] ?? '';
  // At most one part has no fixed width: it takes the remaining characters.
  const rest = piece.length - segment.tokens.reduce((sum, token) => sum + (widthOf(token) ?? 0), 0);
  if (rest < 0) return false;
  let next = 0;
  for (const token of segment.tokens) {
    const text = piece.slice(next, (next += widthOf(token) ?? rest));
    if (typeof token === 'string') {
      if (text !== token) return false;
    } else {
      const part = readPart(token, text, rules);
      if (part === undefined) return false;
      found[token.name] = part;
    }
  }
  return next === piece.length;
}

function readPart({ name, width }: TextValue, text: string, rules: Rules): string | undefined {
  const part = unescapePart(text, rules.role);
  if (part === '' && !rules.mayBeEmpty.has(name)) return undefined;
  return width === undefined || part === text ? part : undefined;
}

const widthOf = (token: string | TextPart): number | undefined =>
  typeof token === 'string' ? token.length : token.width;

/** BAD_USER_INPUT that names the longest part as the one to shorten. */
function tooLong(text: string, names: readonly string[], values: Parts, { owner, role }: Rules): CellportError {
  const bytesOf = (name: string) => byteLength([values[name] ?? ''].flat().join(SEPARATOR));
  const longest = names.reduce((a, b) => (bytesOf(b) > bytesOf(a) ? b : a));
  const key = `a ${role} key of at most ${KEY_BYTES[role]} bytes (it would have ${byteLength(text)})`;
  return badInput(`${owner}.${longest}`, values[longest], `short enough for ${key}`);
}
