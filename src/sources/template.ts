import { escapePart, SEPARATOR, unescapePart } from '../keys/escape.js';

/** Text with parts in braces, `SHOP#{key}`; in the text, `{{` and `}}` are braces. */
export interface Template {
  /** What is in the braces, in order: names, or lists of names as JSON. */
  readonly parts: readonly string[];
  /** The text before, between and behind the parts. */
  readonly literals: readonly string[];
}

/** The template that a text is; undefined if its parts could not be told apart, or are not well-formed. */
export function parseTemplate(source: string): Template | undefined {
  const tokens = [...source.matchAll(/(\{\{|\}\})|\{(\[".*?"\]|[^{}]+)\}|[^{}]+/g)];
  const parts: string[] = [];
  const literals = [''];
  for (const [token, brace, part] of tokens) {
    if (part === undefined) literals.push((literals.pop() ?? '') + (brace?.charAt(0) ?? token));
    else if (parts.push(part) > 1 && literals.at(-1) === '') return undefined;
    else literals.push('');
  }
  const isWhole = tokens.map(([token]) => token).join('') === source && source !== '';
  return isWhole && new Set(parts).size === parts.length ? { parts, literals } : undefined;
}

/** The text with these values of the parts. */
export function formatTemplate({ literals }: Template, values: readonly string[]): string {
  return literals.map((literal, at) => literal + (values[at] ?? '')).join('');
}

/** A template as mappings have it: parseTemplate(writeTemplate(template)) = template. */
export function writeTemplate({ literals, parts }: Template): string {
  const escaped = literals.map((literal) => literal.replaceAll(/[{}]/g, '$&$&'));
  return formatTemplate(
    { parts, literals: escaped },
    parts.map((part) => `{${part}}`),
  );
}

/**
 * The values of the parts in a text, none of them empty, each up to the first text that follows it in the template;
 * undefined if there are none. Takes linear time: the first such text is always as good as any later one.
 */
export function splitByTemplate({ literals }: Template, text: string): readonly string[] | undefined {
  const [first = '', ...rest] = literals;
  const last = rest.pop();
  if (last === undefined) return text === first ? [] : undefined;
  if (!text.startsWith(first) || !text.endsWith(last)) return undefined;
  const values: string[] = [];
  let from = first.length;
  for (const literal of rest) {
    const at = text.indexOf(literal, from + 1);
    if (at < 0) return undefined;
    values.push(text.slice(from, at));
    from = at + literal.length;
  }
  const end = text.length - last.length;
  return from < end ? [...values, text.slice(from, end)] : undefined;
}

const reversed = (text: string) => text.split('').toReversed().join('');

/** Like `splitByTemplate`, but undefined also if there is another way to split the text. */
export function splitOneWay(template: Template, text: string): readonly string[] | undefined {
  const mirror = { parts: [], literals: template.literals.map(reversed).toReversed() };
  const values = splitByTemplate(template, text);
  const others = splitByTemplate(mirror, reversed(text))?.map(reversed).toReversed();
  return values?.every((value, at) => value === others?.[at]) === true ? values : undefined;
}

/** Several values as one key, from which `splitKey` gets them back; a single one is the key itself. */
export function joinKey(values: readonly string[]): string {
  if (values.length === 1) return values[0] ?? '';
  return values.map((value) => escapePart(value, 'partition')).join(SEPARATOR);
}

/** The values in a key of `joinKey`; undefined if it is not one of so many. */
export function splitKey(key: string, count: number): readonly string[] | undefined {
  if (count === 1) return key === '' ? undefined : [key];
  const values = key.split(SEPARATOR).map((part) => unescapePart(part, 'partition') || undefined);
  return values.length === count && values.every((value) => value !== undefined) ? values : undefined;
}
