import { ATTACKS, bodyOf, type Attack } from './documents.js';

const QUERIES = ATTACKS.map(({ query }) => query);
const BODIES = ATTACKS.map(bodyOf);
const PIECES = [
  ...'{}[]():,!$@="#\\'.split(''),
  '...',
  '"""',
  'on',
  'null',
  'true',
  '-1',
  '1e309',
  '__typename',
  '__proto__',
  'constructor',
  'query',
  'subscription',
  'fragment F0 on Query',
  'markers(collection: "parks") {nodes {key}}',
  '\\u0000',
  '\\ud800',
  '😀',
  '\n',
];

/** A text with up to four random changes: deleted, repeated, replaced, or copied from another text. */
function mutated(text: string, others: readonly string[], random: () => number): string {
  const below = (limit: number) => Math.floor(random() * limit);
  const some = <T>(list: readonly T[]): T => list[below(list.length)] as T;
  let result = text;
  for (let left = 1 + below(4); left > 0; left--) {
    const at = below(result.length);
    const end = Math.min(result.length, at + below(random() < 0.5 ? 10 : 2_000));
    const cut = result.slice(at, end);
    const other = some(others);
    const from = below(other.length);
    const instead = [
      () => '',
      () => cut.repeat(2 + below(20)),
      () => some(PIECES),
      () => some(PIECES).repeat(1 + below(300)),
      () => other.slice(from, from + below(5_000)),
    ];
    result = result.slice(0, at) + some(instead)() + result.slice(end);
  }
  return result;
}

/** The body of an attack with some changes: mostly to the document, sometimes to the variables or the body. */
export function mutatedBody(random: () => number): string {
  const attack = ATTACKS[Math.floor(random() * ATTACKS.length)] as Attack;
  const where = random();
  if (where < 0.7) return bodyOf({ ...attack, query: mutated(attack.query, QUERIES, random) });
  if (where < 0.9) return bodyOf({ ...attack, variables: mutated(attack.variables ?? '{}', BODIES, random) });
  return mutated(bodyOf(attack), BODIES, random);
}
