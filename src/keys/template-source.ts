import { SEPARATOR, escapePart, type KeyRole } from './escape.js';

/** A part in braces that has a single text value. */
export interface TextPart {
  readonly name: string;
  /** Written `{name?}`: an item without this part is not in the index. */
  readonly optional: boolean;
  /** Written `{name:2}`: the number of its characters, none of which needs escaping. */
  readonly width: number | undefined;
}

/** The text between two separators: literal text and parts, or a list that expands to any number of segments. */
export type Segment = { readonly list: string } | { readonly tokens: readonly (string | TextPart)[] };

/** `{name}`, `{name?}`, `{name*}`, `{name:2}`, or literal text. */
const TOKEN = /\{([A-Za-z][A-Za-z0-9]*)(?:([?*])|:([1-9][0-9]*))?\}|[^{}]+/g;

/**
 * Parses a template's source into segments. Throws an Error if its keys would be ambiguous: adjacent parts without a
 * fixed width, two lists, a name used twice, literal text that needs escaping.
 */
export function parseSource(source: string, role: KeyRole): readonly Segment[] {
  const segments = source.split(SEPARATOR).map((text) => parseSegment(text, role, source));
  const names = segments.flatMap(textParts).map(({ name }) => name);
  const lists = segments.flatMap((segment) => ('list' in segment ? [segment.list] : []));
  if (lists.length > 1 || new Set([...names, ...lists]).size < names.length + lists.length) {
    throw new Error(`template "${source}" has two lists or names a part twice`);
  }
  return segments;
}

/** The parts of a segment that have a single text value. */
export function textParts(segment: Segment): readonly TextPart[] {
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
