import type { Key } from '../../keys/document-id.js';
import type { Item } from '../database.js';

/** Why DynamoDB refuses a statement of `replaceStatement`: the item has changed. */
export const REFUSALS: ReadonlySet<string> = new Set(['ConditionalCheckFailed', 'DuplicateItem']);

/**
 * The statement that sets attributes of an item, and removes others, if its attribute `b` is still `seen`; or that
 * inserts it, if `seen` is undefined and it does not exist yet.
 */
export function replaceStatement(
  table: string,
  { pk, sk }: Key,
  attributes: Item,
  seen: number | undefined,
  removed: readonly string[] = [],
) {
  const values = Object.values(attributes);
  if (seen === undefined) {
    const names = ['pk', 'sk', ...Object.keys(attributes)].map((name) => `'${name}': ?`);
    return { Statement: `INSERT INTO "${table}" VALUE {${names.join(', ')}}`, Parameters: [pk, sk, ...values] };
  }
  const clauses = [
    ...Object.keys(attributes).map((name) => `SET "${name}" = ?`),
    ...removed.map((name) => `REMOVE "${name}"`),
  ];
  const Statement = `UPDATE "${table}" ${clauses.join(' ')} WHERE pk = ? AND sk = ? AND b = ?`;
  return { Statement, Parameters: [...values, pk, sk, seen] };
}
