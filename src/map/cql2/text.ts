import { badInput } from '../../errors.js';

/** A part of a filter in the JSON form of CQL2. */
export type Cql2 = string | number | boolean | null | readonly Cql2[] | { readonly [name: string]: Cql2 };

const TOKEN =
  /\s*(?:(?<text>'(?:[^']|'')*')|(?<quoted>"(?:[^"]|"")+")|(?<number>[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?)|(?<word>[\p{L}_:][\p{L}\p{N}_:.]*)|(?<sign><>|<=|>=|[=<>(),]))/iuy;

interface Token {
  readonly kind: string;
  readonly text: string;
}

function tokensOf(text: string): Token[] {
  const tokens: Token[] = [];
  for (let at = 0; text.slice(at).trim() !== ''; at = TOKEN.lastIndex) {
    TOKEN.lastIndex = at;
    const [kind, found] = Object.entries(TOKEN.exec(text)?.groups ?? {}).find(([, group]) => group !== undefined) ?? [];
    if (kind === undefined || found === undefined) throw badInput('filter', text.slice(at).trim(), 'CQL2 text');
    tokens.push({ kind, text: found });
  }
  return tokens;
}

const unquoted = (text: string, quote: string) => text.slice(1, -1).replaceAll(quote + quote, quote);

/** Reads the comparisons that CQL2 text joins by AND, in their JSON form. Throws BAD_USER_INPUT naming what it does not know. */
export function readCql2Text(text: string): readonly Cql2[] {
  const tokens = tokensOf(text);
  let at = 0;
  const fail = (allowed: string) => badInput('filter', tokens[at]?.text ?? 'the end', allowed);
  /** Whether a keyword or sign comes next, which is then passed. */
  const passes = (word: string): boolean => {
    const next = tokens[at];
    const isNext = (next?.kind === 'word' || next?.kind === 'sign') && next.text.toUpperCase() === word;
    if (isNext) at += 1;
    return isNext;
  };
  const expect = (word: string): void => {
    if (!passes(word)) throw fail(`${word} after ${JSON.stringify(tokens[at - 1]?.text)}`);
  };
  const take = (kinds: readonly string[], allowed: string): Token => {
    const next = tokens[at];
    if (next === undefined || !kinds.includes(next.kind)) throw fail(allowed);
    at += 1;
    return next;
  };
  const literal = (): Cql2 => {
    for (const word of ['TRUE', 'FALSE']) if (passes(word)) return word === 'TRUE';
    if (passes('TIMESTAMP')) {
      expect('(');
      const instant = unquoted(take(['text'], 'an instant in single quotes').text, "'");
      expect(')');
      return { timestamp: instant };
    }
    const found = take(['text', 'number'], "a number, TRUE, FALSE, TIMESTAMP('…') or a text in single quotes");
    return found.kind === 'text' ? unquoted(found.text, "'") : Number(found.text);
  };
  const comparison = (): Cql2 => {
    const name = take(['word', 'quoted'], 'the name of a property');
    const property = { property: name.kind === 'quoted' ? unquoted(name.text, '"') : name.text };
    if (passes('IS')) {
      const isNegated = passes('NOT');
      expect('NULL');
      const isNull = { op: 'isNull', args: [property] };
      return isNegated ? { op: 'not', args: [isNull] } : isNull;
    }
    if (passes('LIKE')) return { op: 'like', args: [property, literal()] };
    if (passes('BETWEEN')) {
      const least = literal();
      expect('AND');
      return { op: 'between', args: [property, least, literal()] };
    }
    if (passes('IN')) {
      const list: Cql2[] = [];
      for (expect('('); list.length === 0 || passes(',');) list.push(literal());
      expect(')');
      return { op: 'in', args: [property, list] };
    }
    const op = ['=', '<>', '<', '>', '<=', '>='].find(passes);
    if (op === undefined) throw fail('=, <>, <, >, <=, >=, IN, BETWEEN, LIKE or IS [NOT] NULL after a property');
    return { op, args: [property, literal()] };
  };
  const all: Cql2[] = [];
  let open = 0;
  // As AND is all that joins them, parentheses have no effect.
  do {
    while (passes('(')) open += 1;
    all.push(comparison());
    while (open > 0 && passes(')')) open -= 1;
  } while (passes('AND'));
  if (open > 0) throw fail(') or AND');
  if (at < tokens.length) throw fail('AND between comparisons: OR and NOT are not supported');
  return all;
}
