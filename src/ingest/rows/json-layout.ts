import { jsonIn } from './exact-json.js';

/** How values stand in a file: one on each line, after separators, or in a list or object that is the whole file. */
export type JsonLayout = 'lines' | 'sequence' | 'whole';

/** Begins each text of a sequence, RFC 8142. */
export const RECORD_SEPARATOR = '\x1e';
const COLLECTION = /^\{[^{}[\]]*"(?:FeatureCollection"|(?:features|Items)"\s*:\s*\[)/;

/** The layout of a file from its beginning, whatever its name; where both are possible, as lines if `byLine`. */
export function jsonLayout(beginning: string, byLine: boolean): JsonLayout {
  const text = beginning.trim();
  if (text.startsWith(RECORD_SEPARATOR)) return 'sequence';
  const [first = '', ...more] = text.split('\n', 2);
  const value = jsonIn(first);
  if (value !== undefined && more.length > 0) return 'lines';
  const isList = value === undefined ? text.startsWith('[') : Array.isArray(value);
  return !byLine || isList || COLLECTION.test(text) ? 'whole' : 'lines';
}
