import { defineEntity, derive } from 'cellport/keys';

import type { Sensor } from './register.js';

// The outermost name is the partition, so that no city is read for another; the rest is the sort key, queried by prefix.
const derived = {
  outermost: derive({ place: 'list' }, ({ place }) => place[0]),
  inner: derive({ place: 'list' }, ({ place }) => place.slice(1)),
};

/** A sensor, with its entry in the sparse index if it has a place. */
export const SENSOR = defineEntity({
  name: 'sensor',
  key: { pk: 'sensor::{id}', sk: 'self' },
  indexes: { place: { attributes: { pk: 'ppk', sk: 'psk' }, pk: 'place::{outermost?}', sk: '{inner*}::{id}' } },
  derived,
});

/** The same entry as a separate item. */
export const PLACE_ENTRY = defineEntity({
  name: 'placeEntry',
  key: { pk: 'place::{outermost}', sk: '{inner*}::{id}' },
  derived,
});

/** Makes Unicode spellings of a name equal: `ń` may be one character, or `n` and an accent. */
export const normalized = (place: readonly string[]): readonly string[] => place.map((name) => name.normalize('NFC'));

/** The key condition for all entries at a place and below it, given the names of the key attributes. */
export function placeCondition(place: readonly [string, ...string[]], pk: string, sk: string) {
  const [outermost = '', ...inner] = normalized(place);
  const partition = { ':pk': PLACE_ENTRY.pk.format({ outermost }) };
  if (inner.length === 0) return { KeyConditionExpression: `${pk} = :pk`, ExpressionAttributeValues: partition };
  // Whole names only: `A::1::` to `A::1:;` does not contain `A::12::`.
  const { from, to } = PLACE_ENTRY.sk.rangeUnder({ inner });
  return {
    KeyConditionExpression: `${pk} = :pk AND ${sk} BETWEEN :from AND :to`,
    ExpressionAttributeValues: { ...partition, ':from': from, ':to': to },
  };
}

/** The sensor of an entry with these keys. */
export function listedSensor(pk: unknown, sk: unknown, name: unknown): Sensor[] {
  const parts = PLACE_ENTRY.parse({ pk: String(pk), sk: String(sk) });
  return parts ? [{ id: parts.id, name: String(name), place: [parts.outermost, ...parts.inner] }] : [];
}
