import { jsonIn } from './exact-json.js';
import { isFields } from './fields.js';

/**
 * How values stand in a file: one on each line, after separators, one after another as jq writes them, or in a list or
 * object that is the whole file.
 */
export type JsonLayout = 'lines' | 'sequence' | 'concatenated' | 'whole';

/** Begins each text of a sequence, RFC 8142. */
export const RECORD_SEPARATOR = '\x1e';
const COLLECTION = /^\{[^{}[\]]*"(?:FeatureCollection"|(?:features|Items)"\s*:\s*\[)/;

/** The layout of a file from its beginning, whatever its name; where both are possible, as lines if `byLine`. */
export function jsonLayout(beginning: string, byLine: boolean): JsonLayout {
  const text = beginning.trim();
  if (text.startsWith(RECORD_SEPARATOR)) return 'sequence';
  const [first = '', second = ''] = text.split('\n', 2);
  const value = jsonIn(first);
  if (value !== undefined && text !== first) return 'lines';
  const isList = value === undefined ? text.startsWith('[') : Array.isArray(value);
  if (isList || COLLECTION.test(text) || (isFields(value) && (value['features'] ?? value['Items']))) return 'whole';
  const isBroken = isFields(jsonIn(second));
  if (text.startsWith('{') && !isBroken && /\}\s*\{/.test(text.replace(/"(?:[^"\\]|\\.)*"/g, '""')))
    return 'concatenated';
  return byLine ? 'lines' : 'whole';
}
