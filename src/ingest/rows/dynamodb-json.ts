import { isStorable } from '../../model/dynamodb-limits.js';
import { InvalidRow, isFields, type RowFields } from './fields.js';

const TYPES = ['S', 'N', 'B', 'BOOL', 'NULL', 'M', 'L', 'SS', 'NS', 'BS'];
/** DynamoDB's own limit. */
const DEEPEST = 32;

function isTyped(value: unknown): boolean {
  if (!isFields(value)) return false;
  const [type = '', ...more] = Object.keys(value);
  return more.length === 0 && TYPES.includes(type);
}

function valueOf(typed: unknown, depth: number): unknown {
  const [[type, value] = []] = Object.entries(isFields(typed) ? typed : {});
  if (depth > DEEPEST) throw new InvalidRow('it is nested too deeply');
  const number = (text: unknown) => (isStorable(Number(text)) ? Number(text) : text);
  if (type === 'N') return number(value);
  if (type === 'NULL') return null;
  if (type === 'NS' && Array.isArray(value)) return value.map(number);
  if (type === 'L' && Array.isArray(value)) return value.map((each) => valueOf(each, depth + 1));
  return type === 'M' && isFields(value) ? fieldsOf(value, depth + 1) : value;
}

function fieldsOf(map: RowFields, depth = 1): RowFields {
  return Object.fromEntries(Object.entries(map).map(([name, value]) => [name, valueOf(value, depth)]));
}

/**
 * The fields of an item in DynamoDB's JSON, alone or in a member, as exports to S3 have it; undefined for any
 * other row. Sets become lists, and numbers that JavaScript cannot keep text. Throws InvalidRow.
 */
export function itemIn(row: RowFields): RowFields | undefined {
  const isItem = (each: unknown) =>
    isFields(each) && Object.keys(each).length > 0 && Object.values(each).every(isTyped);
  const item = [row['Item'], row['NewImage'], row].filter(isFields).find(isItem);
  return item && fieldsOf(item);
}
