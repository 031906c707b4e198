import type { Lines } from './lines.js';

/** Longest text before the features; a file with more is not a FeatureCollection. */
const LONGEST_FRAME = 1024 * 1024;
const FEATURES_KEY = /"features"\s*:\s*$/;
const TOKEN = /["\\{}[\],\n]/g;

/** Where the scan is, in relation to the array. */
type Part = 'before' | 'in' | 'after';

/** A file that is not GeoJSON as a whole. */
export class NotGeoJson extends Error {}

/**
 * The elements of the array `features` of a GeoJSON text, each with the line on which it begins: cut at its commas, so that
 * memory does not grow with the file and an invalid feature leaves the others valid. A text without such an array is one
 * element.
 */
export async function* featuresOf(pieces: AsyncIterable<string>): AsyncGenerator<readonly Lines[]> {
  let text = '';
  /** Where the scan goes on, and where the current element begins. */
  let at = 0;
  let begin = 0;
  let line = 1;
  let depth = 0;
  let inString = false;
  let part = 'before' as Part;
  let found: Lines[] = [];

  function take(end: number): void {
    const element = text.slice(begin, end);
    const body = element.trim();
    const blank = element.slice(0, element.indexOf(body));
    const lines = (some: string) => some.split('\n').length - 1;
    if (body !== '') found.push({ line: line - lines(element) + lines(blank), text: body });
    begin = end + 1;
  }

  function token(char: string, index: number): void {
    if (inString) {
      if (char === '"') inString = false;
      // Skips what is escaped.
      else if (char === '\\') TOKEN.lastIndex = index + 2;
      if (char === '\n') line += 1;
      return;
    }
    if (char === '\n') line += 1;
    else if (char === '"') inString = true;
    else if (char === '{' || char === '[') {
      depth += 1;
      if (part === 'before' && char === '[' && depth === 2 && FEATURES_KEY.test(text.slice(0, index))) {
        part = 'in';
        begin = index + 1;
      }
    } else if (char === ',') {
      if (part === 'in' && depth === 2) take(index);
    } else if (char === '}' || char === ']') {
      if (part === 'in' && depth === 2 && char === ']') {
        take(index);
        part = 'after';
      }
      depth -= 1;
    }
  }

  for await (const piece of pieces) {
    text += piece;
    TOKEN.lastIndex = at;
    at = text.length;
    for (let match = TOKEN.exec(text); match !== null; match = TOKEN.exec(text)) {
      if (match[0] === '\\' && match.index + 1 === text.length) {
        // What is escaped is in the next piece.
        at = match.index;
        break;
      }
      token(match[0], match.index);
    }
    if (part === 'before' && text.length > LONGEST_FRAME)
      throw new NotGeoJson('No array of features begins in the first megabyte of this file.');
    if (part === 'after') begin = at;
    if (part !== 'before') {
      text = text.slice(begin);
      at -= begin;
      begin = 0;
    }
    if (found.length > 0) yield found;
    found = [];
  }
  if (part === 'in') throw new NotGeoJson(`This GeoJSON ends in the middle, after line ${line}.`);
  if (part === 'before' && text.trim() !== '') yield [{ line: 1, text: text.trim() }];
}
