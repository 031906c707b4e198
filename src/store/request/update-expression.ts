import type { Item } from '../database.js';

/**
 * The part of an UpdateItem that gives these attributes the values of `next`, and removes those that it lacks.
 * Attribute n of the list is `#n` in expressions, and its value `:n`.
 */
export function updateTo(names: readonly string[], next: Item) {
  const all = names.map((name, n) => ({ name, n, value: next[name] }));
  const put = all.filter(({ value }) => value !== undefined);
  const set = put.map(({ n }) => `#${n} = :${n}`).join(', ');
  const remove = all
    .filter(({ value }) => value === undefined)
    .map(({ n }) => `#${n}`)
    .join(', ');
  return {
    UpdateExpression: [set && `SET ${set}`, remove && `REMOVE ${remove}`].filter(Boolean).join(' '),
    ExpressionAttributeNames: Object.fromEntries(all.map(({ n, name }) => [`#${n}`, name])),
    ExpressionAttributeValues: Object.fromEntries(put.map(({ n, value }) => [`:${n}`, value])),
  };
}
