import { badInput } from '../../errors.js';
import type { Chunk } from './bytes.js';

/** In place of the depth of the list, outside it. */
const OUTSIDE = -1;
const NEWLINE = 0x0a;
const SPACE = 0x20;
const QUOTE = 0x22;
const COMMA = 0x2c;
const OPEN_ARRAY = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_ARRAY = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/** Maximum length of the text around the elements; a file with more is not a FeatureCollection. */
const LONGEST_FRAME = 1024 * 1024;
/** What precedes the list: nothing, or its name in GeoJSON or in the answer of a DynamoDB Scan. */
const LIST_KEY = { 1: /^\s*$/, 2: /"(?:features|Items)"\s*:\s*$/ } as const;

/** The text of one value. */
export interface Element {
  readonly line: number;
  /** Its offset in the file, including preceding whitespace. */
  readonly start: number;
  readonly bytes: Buffer;
}

/** Cuts elements out of a file that arrives in chunks. */
class Cutter {
  /** Line on which the current element begins; 0 before its first byte. */
  begun = 0;
  /** Bytes of the current element in earlier chunks. */
  held = 0;
  /** Those that end in the current chunk. */
  elements: Element[] = [];
  #pieces: Buffer[] = [];
  #start = 0;
  #chunk: Buffer = Buffer.alloc(0);
  #chunkStart = 0;
  /** Where the current element, or the frame, begins in this chunk. */
  #from = 0;

  next(chunk: Buffer, chunkStart: number): void {
    this.#chunk = chunk;
    this.#chunkStart = chunkStart;
    this.#from = 0;
    this.elements = [];
  }

  /** The part of the chunk that has not been cut off, up to a byte. */
  rest(to?: number): Buffer {
    return this.#chunk.subarray(this.#from, to);
  }

  /** Ends the current element before a byte, which separates it from the next one unless that begins there. */
  cut(at: number, next = at + 1): void {
    const rest = this.rest(at);
    const bytes = this.#pieces.length === 0 ? rest : Buffer.concat([...this.#pieces, rest]);
    this.elements.push({ line: this.begun, start: this.#start, bytes });
    this.restart(next);
  }

  /** Begins an element, or the frame, at a byte. */
  restart(at: number): void {
    this.#pieces = [];
    this.held = 0;
    this.begun = 0;
    this.#from = at;
    this.#start = this.#chunkStart + at;
  }

  /** Keeps the rest of the chunk, as the current element continues in the next one. */
  hold(): void {
    this.#pieces.push(this.rest());
    this.held += this.rest().length;
  }
}

/**
 * Splits the file at the commas of its list, which is the file itself or the member `features` or `Items`, or, if values
 * are `concatenated` without a list, behind each, by counting brackets outside strings; JSON.parse then reads one element
 * at a time. A streaming tokenizer would not know the line of an element, and would stop at the first error. The text
 * around the elements (the frame) is passed to `onFrame` twice, with its offset: when they begin, completed to valid JSON,
 * and in full at the end.
 */
export async function* readElements(
  path: string,
  text: AsyncIterable<Chunk>,
  longest: number,
  onFrame: (frame: string, start: number) => void,
  concatenated = false,
): AsyncGenerator<readonly Element[]> {
  const cutter = new Cutter();
  let frame = '';
  let frameStart: number | undefined;
  let depth = 0;
  let inString = false;
  let escaped = false;
  let line = 1;
  /** Bracket depth directly inside the list. */
  let inside = concatenated ? 0 : OUTSIDE;
  let done = concatenated;

  for await (const { start: chunkStart, bytes: chunk } of text) {
    cutter.next(chunk, chunkStart);
    // After a byte order mark.
    if (frameStart === undefined) cutter.restart(0);
    frameStart ??= chunkStart;
    for (let at = 0; at < chunk.length; at += 1) {
      const byte = chunk[at] as number;
      if (inString) {
        if (escaped) escaped = false;
        else if (byte === BACKSLASH) escaped = true;
        else if (byte === QUOTE) inString = false;
        continue;
      }
      if (byte <= SPACE) {
        if (byte === NEWLINE) line += 1;
        continue;
      }
      if (inside >= 0 && cutter.begun === 0 && byte !== COMMA && byte !== CLOSE_ARRAY) cutter.begun = line;
      if (byte === QUOTE) inString = true;
      else if (byte === COMMA) {
        if (depth !== inside) continue;
        cutter.begun ||= line;
        cutter.cut(at);
      } else if (byte === OPEN_OBJECT || byte === OPEN_ARRAY) {
        depth += 1;
        if (byte === OPEN_OBJECT || (depth !== 1 && depth !== 2) || done) continue;
        const before = frame + cutter.rest(at).toString('latin1');
        if (!LIST_KEY[depth].test(before)) continue;
        frame = `${before}[`;
        onFrame(depth === 1 ? `${frame}]` : `${frame}]}`, frameStart);
        inside = depth;
        cutter.restart(at + 1);
      } else if (byte === CLOSE_OBJECT || byte === CLOSE_ARRAY) {
        if (depth === inside && byte === CLOSE_ARRAY) {
          // Nothing follows the last comma, or the array is empty.
          if (cutter.begun > 0) cutter.cut(at);
          cutter.restart(at);
          inside = OUTSIDE;
          done = true;
        }
        depth -= 1;
        if (inside === 0 && depth === 0) cutter.cut(at + 1, at + 1);
      }
    }
    yield cutter.elements;
    if (inside === OUTSIDE) {
      frame += cutter.rest().toString('latin1');
      // The file may be a single feature.
      if (frame.length <= Math.max(longest, LONGEST_FRAME)) continue;
      throw badInput('file', path, `GeoJSON with a features array: none begins in its first ${frame.length} bytes`);
    }
    cutter.hold();
    if (cutter.held > longest) {
      throw badInput('file', path, `GeoJSON: the feature on line ${cutter.begun} does not end within ${longest} bytes`);
    }
  }
  if (inside > 0 || (inside === 0 && cutter.begun > 0)) {
    const where =
      cutter.begun > 0
        ? `in the feature that begins on line ${cutter.begun}`
        : `after line ${line}, between two features`;
    throw badInput('file', path, `complete GeoJSON: it ends ${where}`);
  }
  if (inside !== 0) onFrame(frame, frameStart ?? 0);
}
