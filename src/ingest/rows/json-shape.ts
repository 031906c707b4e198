import { jsonIn } from '../../model/exact-json.js';
import { isFields } from './fields.js';

/** How values stand: one on each line, after separators, one after another, or in a list or object, the whole file. */
export type JsonShape = 'lines' | 'sequence' | 'concatenated' | 'whole';

/** Begins each text of a sequence, RFC 8142. */
export const RECORD_SEPARATOR = '\x1e';
/** Whether a file has one line, from its beginning. */
export const isOneLine = (beginning: string): boolean => !/[\r\n]/.test(beginning.trim());

const COLLECTION = /^\{[^{}[\]]*"(?:FeatureCollection"|(?:features|Items)"\s*:\s*\[)/;

/** The layout of a file from its beginning, whatever its name; where both are possible, as lines if `byLine`. */
export function jsonShape(beginning: string, byLine: boolean): JsonShape {
  const text = beginning.trim();
  if (text.startsWith(RECORD_SEPARATOR)) return 'sequence';
  const lines = text.split(/\r\n?|\n/, 100);
  const [first = ''] = lines;
  const value = jsonIn(first);
  if (value !== undefined && text !== first) return 'lines';
  const isList = value === undefined ? text.startsWith('[') : Array.isArray(value);
  if (isList || COLLECTION.test(text) || (isFields(value) && value['type'] === 'FeatureCollection')) return 'whole';
  // Only the first of the lines may be damaged.
  const hasLine = lines.some((line) => line.startsWith('{') && jsonIn(line) !== undefined);
  const isSeveral = text.startsWith('{') && /\}\s*\{/.test(text.replace(/"(?:[^"\\]|\\.)*"/g, ''));
  return isSeveral && !hasLine ? 'concatenated' : byLine ? 'lines' : 'whole';
}
