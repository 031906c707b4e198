import { CellportError } from '../../errors.js';
import { distance } from '../../geo/distance.js';
import { leafCellCenter } from '../../geo/s2-cell.js';
import { keyText, writePath, type Item, type MappingJson } from '../mapping.js';
import { readPosition } from '../position.js';
import { categoryOf, nameOf } from './attributes.js';
import { partOf, type Proposal, type SampledTable } from './propose.js';

const ORDERS = [
  { as: 'lat,lng', says: 'the latitude first, as the Java library writes it' },
  { as: 'geojson', says: 'the longitude first, as the JavaScript library writes it' },
] as const;

/** Maximum distance in meters of a position from the center of its cell, which is a square of a centimeter. */
const TOLERANCE_METERS = 1;

/** The center of the S2 cell with an ID that begins with the digits of the hash key; undefined for anything else. */
function cellOf(id: unknown, hashKey: unknown) {
  const isWhole = typeof id === 'bigint' || Number.isSafeInteger(id);
  return isWhole && String(id).startsWith(String(hashKey)) ? leafCellCenter(BigInt(id as bigint)) : undefined;
}

/**
 * The mapping of a table that the Geo Library for Amazon DynamoDB writes, from some of its items: their S2 cells tell which
 * coordinate is first. Throws BAD_USER_INPUT for other tables, and if it is not the same one in all items.
 */
export function proposeGeoLibrary({ name: table, key }: SampledTable, items: readonly Item[]): Proposal {
  const refusal = (why: string) =>
    new CellportError('BAD_USER_INPUT', `table ${table} is not as the Geo Library writes it: ${why}`, { table });
  const [hash, range] = key;
  if (hash?.type !== 'N') throw refusal(`its partition key ${hash?.name} is not a number`);
  if (range === undefined) throw refusal('it has no sort key');
  const some = (found: readonly Item[]) => {
    const example = [hash, range].map(({ name }) => `${name} ${JSON.stringify(keyText(found[0]?.[name]))}`);
    return `in ${found.length} of ${items.length} items, e.g. ${example.join(', ')}`;
  };
  /** The attribute, no key, for which something holds in most items. */
  const commonest = (holds: (item: Item, name: string) => boolean) => {
    const names = [...new Set(items.flatMap((item) => Object.keys(item)))];
    const counted = names.map((name) => ({ name, count: items.filter((item) => holds(item, name)).length }));
    const [most] = counted.toSorted((a, b) => b.count - a.count);
    return most && most.count > 0 ? most.name : undefined;
  };
  const geohash = commonest(
    (item, name) => !key.some((each) => each.name === name) && !!cellOf(item[name], item[hash.name]),
  );
  if (geohash === undefined) throw refusal(`no S2 cell begins with the digits of ${hash.name}, ${some(items)}`);
  /** The orders in which an attribute has the position of the item's cell: both if the coordinates are equal. */
  const ordersIn = (item: Item, name: string) =>
    ORDERS.filter(({ as }) => {
      const center = cellOf(item[geohash], item[hash.name]);
      const point = readPosition({ path: [name], as, wrap: false }, item);
      return center !== undefined && !('reason' in point) && distance(point, center) < TOLERANCE_METERS;
    });
  const cell = `the position of the S2 cell in ${geohash} in`;
  const geoJson = commonest((item, name) => ordersIn(item, name).length > 0);
  if (geoJson === undefined) throw refusal(`no attribute has ${cell} either order of its coordinates, ${some(items)}`);
  const only = (order: (typeof ORDERS)[number]) => (item: Item) => {
    const [first, second] = ordersIn(item, geoJson);
    return first === order && second === undefined;
  };
  const found = ORDERS.map((order) => ({ ...order, items: items.filter(only(order)) })).filter((each) => each.items[0]);
  const [{ as, says } = ORDERS[1], ...others] = found;
  if (others.length > 0) {
    const both = found.map((order) => `${order.says}, ${some(order.items)}`).join('; but ');
    throw refusal(`${geoJson} has ${both}. A mapping has one order: write two, if tests in where tell the items apart`);
  }
  const [name, category] = [nameOf(items), categoryOf(items)];
  const mapping: MappingJson = {
    table,
    key: partOf(range.name),
    position: { path: writePath([geoJson]), as },
    ...(name && { name: writePath(name) }),
    ...(category !== undefined && { category: writePath([category]) }),
  };
  const notes = [`${geoJson} has ${says}, as the S2 cells in ${geohash} tell.`];
  const wrong = items.filter((item) => ordersIn(item, geoJson).length === 0);
  if (wrong.length > 0) notes.push(`${geoJson} has ${cell} neither order of its coordinates, ${some(wrong)}.`);
  const right = items.filter((item) => !wrong.includes(item));
  const markers = new Set(right.map((item) => item[range.name])).size;
  const twice = `items have the ${range.name} of another; "key": "${partOf(hash.name)}/${partOf(range.name)}" tells them apart.`;
  if (markers < right.length) notes.push(`${right.length - markers} ${twice}`);
  return { kind: 'dynamodb-geo', items: items.length, markers, mapping, notes };
}
