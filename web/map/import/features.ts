import { otherCrs } from '../../../src/ingest/rows/crs.js';
import type { Lines } from './lines.js';

/** Maximum length of the text before the elements; a file with more is not a FeatureCollection. */
const LONGEST_FRAME = 1024 * 1024;
/** What precedes the list, by its depth: nothing, or its name in GeoJSON or in the answer of a DynamoDB Scan. */
const LIST_KEY = new Map([
  [1, /^\s*$/],
  [2, /"(?:features|Items)"\s*:\s*$/],
]);
const TOKEN = /["\\{}[\],\n]/g;

/** The scan's position relative to the array. */
type Part = 'before' | 'in' | 'after';

/** The file as a whole is not GeoJSON in degrees. */
export class NotGeoJson extends Error {}

/** Throws NotGeoJson if what precedes the features names coordinates in another reference system. */
function checkCrs(frame: string): void {
  let crs: string | undefined;
  try {
    crs = otherCrs(JSON.parse(`${frame}[]}`));
  } catch {
    // What is no JSON is told by its elements.
  }
  if (crs !== undefined) throw new NotGeoJson(`This GeoJSON must be in WGS 84 degrees, but its crs is ${crs}.`);
}

/**
 * Yields the elements of a JSON text's array, which is the text itself or its member `features` or `Items`, each with the
 * line on which it begins. The text is cut at the array's commas, so memory does not grow with the file, and an invalid
 * element does not affect the others. A text without such an array is one element, or, if `concatenated`, one or more.
 */
export async function* featuresOf(
  pieces: AsyncIterable<string>,
  concatenated = false,
): AsyncGenerator<readonly Lines[]> {
  let text = '';
  /** Where the scan continues, and where the current element begins. */
  let at = 0;
  let begin = 0;
  let line = 1;
  let depth = 0;
  let inside = 0;
  let inString = false;
  let part = (concatenated ? 'in' : 'before') as Part;
  let found: Lines[] = [];

  function take(end: number, next = end + 1): void {
    const element = text.slice(begin, end);
    const body = element.trim();
    const blank = element.slice(0, element.indexOf(body));
    const lines = (some: string) => some.split('\n').length - 1;
    if (body !== '') found.push({ line: line - lines(element) + lines(blank), text: body });
    begin = next;
  }

  function token(char: string, index: number): void {
    if (inString) {
      if (char === '"') inString = false;
      // Skips the escaped character.
      else if (char === '\\') TOKEN.lastIndex = index + 2;
      if (char === '\n') line += 1;
      return;
    }
    if (char === '\n') line += 1;
    else if (char === '"') inString = true;
    else if (char === '{' || char === '[') {
      depth += 1;
      if (part === 'before' && char === '[' && LIST_KEY.get(depth)?.test(text.slice(0, index))) {
        checkCrs(text.slice(0, index));
        part = 'in';
        inside = depth;
        begin = index + 1;
      }
    } else if (char === ',') {
      if (part === 'in' && depth === inside) take(index);
    } else if (char === '}' || char === ']') {
      if (part === 'in' && depth === inside && char === ']') {
        take(index);
        part = 'after';
      }
      depth -= 1;
      if (concatenated && depth === 0) take(index + 1, index + 1);
    }
  }

  for await (const piece of pieces) {
    text += piece;
    TOKEN.lastIndex = at;
    at = text.length;
    for (let match = TOKEN.exec(text); match !== null; match = TOKEN.exec(text)) {
      if (match[0] === '\\' && match.index + 1 === text.length) {
        // The escaped character is in the next piece.
        at = match.index;
        break;
      }
      token(match[0], match.index);
    }
    if (part === 'before' && text.length > LONGEST_FRAME)
      throw new NotGeoJson('No features array found in the first megabyte of this file.');
    if (part === 'after') begin = at;
    if (part !== 'before') {
      text = text.slice(begin);
      at -= begin;
      begin = 0;
    }
    if (found.length > 0) yield found;
    found = [];
  }
  if (concatenated ? text.trim() !== '' : part === 'in')
    throw new NotGeoJson(`This GeoJSON is incomplete: it ends after line ${line}.`);
  if (part === 'before' && text.trim() !== '') yield [{ line: 1, text: text.trim() }];
}
