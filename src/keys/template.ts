import { badInput } from '../errors.js';
import { KEY_BYTES, SEPARATOR, byteLength, escapePart, isWellFormed, unescapePart, type KeyRole } from './escape.js';

/** What stands in a key for one name: a text, or for `{name*}` a list of texts. */
export type PartValue = string | readonly string[];
export type Parts = Readonly<Record<string, PartValue | undefined>>;

/** The parts in the braces of a template, as they are written: `key`, `code:2`, `path*`. */
type Braced<T extends string> = T extends `${string}{${infer Inner}}${infer Rest}` ? Inner | Braced<Rest> : never;

type ListNames<T extends string> = Braced<T> extends infer B ? (B extends `${infer N}*` ? N : never) : never;
type TextNames<T extends string> =
  Braced<T> extends infer B ? (B extends `${string}*` ? never : B extends `${infer N}:${number}` ? N : B) : never;

/** The values that a template takes and gives back, typed from its text. */
export type TemplateParts<T extends string> = string extends T
  ? Readonly<Record<string, PartValue>>
  : { readonly [N in TextNames<T> & string]: string } & { readonly [N in ListNames<T>]: readonly string[] };

/** A key's text as a pure function of its parts, and back. */
export interface Template<P = Parts> {
  readonly source: string;
  readonly role: KeyRole;
  /** The names of its parts in their order. */
  readonly names: readonly string[];
  /** The key. Throws BAD_USER_INPUT naming the part that is missing, empty or too long for DynamoDB. */
  format(parts: P): string;
  /** The parts of a key that `format` gave; undefined for any other text. */
  parse(text: string): P | undefined;
}

type Token =
  | { readonly kind: 'literal'; readonly text: string }
  | { readonly kind: 'text'; readonly name: string; readonly width: number | undefined }
  | { readonly kind: 'list'; readonly name: string };

type Segment = readonly Token[];

const BRACES = /\{([A-Za-z][A-Za-z0-9]*)(?:(\*)|:(\d+))?\}|([^{}]+)/y;

export interface TemplateOptions {
  readonly source: string;
  readonly role: KeyRole;
  /** Names the key in errors. */
  readonly owner: string;
  /** Parts that may be the empty text, e.g. the prefix of a short geohash. */
  readonly mayBeEmpty?: readonly string[];
}

/**
 * Compiles a template: segments between `::`, each of literal text and parts in braces. `{name}` is a text, `{name:2}`
 * one of exactly so many characters that needs no escaping, `{name*}` any number of texts, each a segment of its own.
 * Throws an Error where keys of this template could not be parsed without doubt.
 */
export function compileTemplate<P = Parts>(options: TemplateOptions): Template<P> {
  const { source, role, owner } = options;
  const segments = source.split(SEPARATOR).map((segment) => tokens(segment, options));
  const names = segments.flat().flatMap((token) => (token.kind === 'literal' ? [] : [token.name]));
  const lists = segments.filter((segment) => segment.some((token) => token.kind === 'list'));
  if (source === '' || new Set(names).size !== names.length || lists.length > 1) {
    throw new Error(`the template ${source} of ${owner} is empty, names a part twice or holds two lists`);
  }
  const mayBeEmpty = new Set(options.mayBeEmpty);

  function format(parts: Parts): string {
    const text = segments
      .flatMap((segment) => formatSegment(segment, parts, { owner, role, mayBeEmpty }))
      .join(SEPARATOR);
    if (byteLength(text) > KEY_BYTES[role]) throw tooLong(names, parts, options, byteLength(text));
    return text;
  }

  function parse(text: string): Parts | undefined {
    const found: Record<string, PartValue> = {};
    const texts = text.split(SEPARATOR);
    const listed = texts.length - (segments.length - lists.length);
    let next = 0;
    for (const segment of segments) {
      const [first] = segment;
      const taken = first?.kind === 'list' ? listed : 1;
      const own = texts.slice(next, next + taken);
      next += taken;
      if (own.length !== taken || !parseSegment(segment, own, role, found)) return undefined;
    }
    if (next !== texts.length) return undefined;
    // Whatever could be written in another way is refused here: one key, one spelling.
    return spells(found, text) ? found : undefined;
  }

  function spells(parts: Parts, text: string): boolean {
    try {
      return format(parts) === text;
    } catch {
      return false;
    }
  }

  return { source, role, names, format, parse } as Template<unknown> as Template<P>;
}

function tokens(segment: string, { source, role, owner }: TemplateOptions): Segment {
  const found: Token[] = [];
  BRACES.lastIndex = 0;
  for (let match = BRACES.exec(segment); match; match = BRACES.exec(segment)) {
    const [, name, list, width, literal] = match;
    if (literal !== undefined) found.push({ kind: 'literal', text: literal });
    else if (name !== undefined && list) found.push({ kind: 'list', name });
    else if (name !== undefined) found.push({ kind: 'text', name, width: width ? Number(width) : undefined });
  }
  const written = found.map((token) => (token.kind === 'literal' ? token.text : '')).join('');
  const open = found.filter((token) => token.kind === 'list' || (token.kind === 'text' && token.width === undefined));
  const whole = found.map(tokenSource).join('') === segment;
  const alone = found.length === 1 || found.every((token) => token.kind !== 'list');
  if (!whole || !alone || open.length > 1 || escapePart(written, role) !== written) {
    throw new Error(`the template ${source} of ${owner} cannot be parsed without doubt at "${segment}"`);
  }
  return found;
}

function tokenSource(token: Token): string {
  if (token.kind === 'literal') return token.text;
  if (token.kind === 'list') return `{${token.name}*}`;
  return token.width === undefined ? `{${token.name}}` : `{${token.name}:${token.width}}`;
}

interface Rules {
  readonly owner: string;
  readonly role: KeyRole;
  readonly mayBeEmpty: ReadonlySet<string>;
}

function formatSegment(segment: Segment, parts: Parts, rules: Rules): readonly string[] {
  const [first] = segment;
  if (first?.kind === 'list') return listOf(first.name, parts[first.name], rules);
  return [segment.map((token) => (token.kind === 'literal' ? token.text : textOf(token, parts, rules))).join('')];
}

function listOf(name: string, value: PartValue | undefined, rules: Rules): readonly string[] {
  if (!Array.isArray(value)) throw badInput(`${rules.owner}.${name}`, value, 'a list of texts');
  return value.map((text: unknown, index) => writtenPart(`${name}[${index}]`, text, rules, false));
}

function textOf(token: Token & { kind: 'text' | 'list' }, parts: Parts, rules: Rules): string {
  const value = parts[token.name];
  const text = writtenPart(token.name, value, rules, rules.mayBeEmpty.has(token.name));
  const width = token.kind === 'text' ? token.width : undefined;
  if (width !== undefined && (text.length !== width || text !== value)) {
    throw badInput(`${rules.owner}.${token.name}`, value, `exactly ${width} characters, none of them : % #`);
  }
  return text;
}

function writtenPart(name: string, value: unknown, { owner, role }: Rules, mayBeEmpty: boolean): string {
  if (typeof value !== 'string' || (value === '' && !mayBeEmpty)) {
    throw badInput(`${owner}.${name}`, value, 'a text that is not empty');
  }
  if (!isWellFormed(value)) throw badInput(`${owner}.${name}`, value, 'well-formed Unicode without lone surrogates');
  return escapePart(value, role);
}

function parseSegment(
  segment: Segment,
  texts: readonly string[],
  role: KeyRole,
  found: Record<string, PartValue>,
): boolean {
  const [first] = segment;
  if (first?.kind === 'list') {
    const parts = texts.map((text) => unescapePart(text, role));
    if (parts.some((part) => part === undefined)) return false;
    found[first.name] = parts as string[];
    return true;
  }
  // Everything but one part has a known width, which leaves that part the rest.
  const text = texts[0] ?? '';
  const open = text.length - segment.reduce((sum, token) => sum + (widthOf(token) ?? 0), 0);
  let position = 0;
  for (const token of segment) {
    const own = text.slice(position, position + (widthOf(token) ?? open));
    position += widthOf(token) ?? open;
    if (token.kind === 'literal') {
      if (own !== token.text) return false;
      continue;
    }
    const part = unescapePart(own, role);
    if (part === undefined) return false;
    found[token.name] = part;
  }
  return open >= 0 && position === text.length;
}

function widthOf(token: Token): number | undefined {
  if (token.kind === 'literal') return token.text.length;
  return token.kind === 'text' ? token.width : undefined;
}

function tooLong(names: readonly string[], parts: Parts, { owner, role }: TemplateOptions, bytes: number): Error {
  const sizes = names.map((name) => ({ name, bytes: byteLength([parts[name] ?? ''].flat().join('')) }));
  const longest = sizes.reduce((a, b) => (b.bytes > a.bytes ? b : a), { name: owner, bytes: 0 });
  const limit = `short enough for a ${role} key of at most ${KEY_BYTES[role]} bytes (it would have ${bytes})`;
  return badInput(`${owner}.${longest.name}`, parts[longest.name], limit);
}
