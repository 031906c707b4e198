import { randomUUID } from 'node:crypto';

import { ifRefused, limitExceeded } from '../../errors.js';
import { jsonOf } from '../../model/json.js';
import type { Scheduler } from '../../scheduling/scheduler.js';
import { formatted } from '../error-format.js';

/**
 * The JSON texts found by JSON.stringify, in order; each is replaced by the same mark. JSON.stringify is synchronous, so no
 * other answer can interfere.
 */
interface Splicing {
  current: { readonly mark: string; readonly texts: (readonly Buffer[])[] } | undefined;
}

const MARK_LENGTH = 36;

/** An already serialized JSON value in UTF-8. */
export class JsonText {
  readonly #pieces: readonly Buffer[];
  readonly #splicing: Splicing;

  constructor(pieces: readonly Buffer[], splicing: Splicing) {
    this.#pieces = pieces;
    this.#splicing = splicing;
  }

  get text(): string {
    return Buffer.concat(this.#pieces).toString();
  }

  /** The mark during `stringify`, otherwise the value. */
  toJSON(): unknown {
    const { current } = this.#splicing;
    if (current === undefined) return JSON.parse(this.text);
    current.texts.push(this.#pieces);
    return current.mark;
  }
}

/**
 * Maximum size of one call of JSON.stringify, in values (2^6 characters of a string count as one): a tenth of a
 * millisecond.
 */
const PIECE = 1_000;
const CHARACTERS_OF_VALUE_LOG2 = 6;
/** Pieces are written for this long in one turn, in milliseconds. */
const STEP_MS = 2;
/** Text is encoded in chunks of about this length. */
const CHUNK = 64 * 1024;

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !(value instanceof JsonText);

/**
 * `room` minus the size of a value, below zero if the value does not fit, or has a list that by its first item does not;
 * its depth is at most `room`.
 */
function roomAfter(value: unknown, room: number): number {
  if (typeof value === 'string') return room - 1 - (value.length >> CHARACTERS_OF_VALUE_LOG2);
  if (!isObject(value)) return room - 1;
  let left = room - 1;
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length && left >= 0; index++) {
      const before = left;
      left = roomAfter(value[index], left);
      // Items of a list are much alike.
      if (index === 0 && (before - left) * (value.length - 1) > left) return -1;
    }
    return left;
  }
  // The fastest loop over an object; those of an answer inherit no enumerable properties.
  // oxlint-disable-next-line guard-for-in
  for (const name in value) {
    left = roomAfter(value[name], left);
    if (left < 0) break;
  }
  return left;
}

const isLeftOut = (value: unknown) => value === undefined || typeof value === 'function' || typeof value === 'symbol';

/** Writes the JSON of one value in pieces, between which other requests are served. */
class Writer {
  // Random, and chosen after the data exists, so that the data cannot contain it.
  readonly #mark = randomUUID();
  readonly #splicing: Splicing;
  readonly #scheduler: Scheduler;
  readonly #maxBytes: number;
  readonly #chunks: Buffer[] = [];
  #bytes = 0;
  #text = '';
  /** When the current step began: writing anything long waits for its turn. */
  #resumed = -Infinity;

  constructor(splicing: Splicing, scheduler: Scheduler, maxBytes: number) {
    this.#splicing = splicing;
    this.#scheduler = scheduler;
    this.#maxBytes = maxBytes;
  }

  /** Writes a value that fits into one piece; only the items of a list if `bare`. */
  #piece(value: unknown, { bare = false } = {}): void {
    const texts: (readonly Buffer[])[] = [];
    this.#splicing.current = { mark: this.#mark, texts };
    let written: string;
    try {
      written = jsonOf(value, () => texts.splice(0));
    } finally {
      this.#splicing.current = undefined;
    }
    if (bare) written = written.slice(1, -1);
    if (texts.length === 0) return this.#add(written);
    written.split(`"${this.#mark}"`).forEach((part, index) => {
      this.#add(part);
      const text = texts[index];
      if (text === undefined) return;
      this.#flush();
      for (const piece of text) this.#chunk(piece);
    });
  }

  #count(bytes: number): void {
    this.#bytes += bytes;
    if (this.#bytes <= this.#maxBytes) return;
    const advice = 'request shorter pages, or fewer fields';
    throw limitExceeded('size of the answer', `more than ${this.#maxBytes} bytes`, this.#maxBytes, advice);
  }

  #chunk(bytes: Buffer): void {
    this.#chunks.push(bytes);
    this.#count(bytes.length);
  }

  #flush(): void {
    if (this.#text !== '') this.#chunk(Buffer.from(this.#text));
    this.#text = '';
  }

  #add(text: string): void {
    // Flushed first, so that the end of the answer stays a string, which `withExtensions` can change.
    if (this.#text.length > CHUNK) this.#flush();
    this.#text += text;
  }

  async #rest(): Promise<void> {
    const { clock, takeTurn } = this.#scheduler;
    if (clock.now() - this.#resumed < STEP_MS) return;
    await takeTurn();
    this.#resumed = clock.now();
  }

  async #writeList(list: readonly unknown[]): Promise<void> {
    this.#add('[');
    for (let from = 0; from < list.length;) {
      let to = from;
      for (let room = PIECE; to < list.length; to++) {
        room = roomAfter(list[to], room);
        if (room < 0) break;
      }
      if (from > 0) this.#add(',');
      if (to > from) this.#piece(list.slice(from, to), { bare: true });
      else await this.write(list[to++]);
      from = to;
      await this.#rest();
    }
    this.#add(']');
  }

  async #writeMembers(value: object): Promise<void> {
    let separator = '{';
    for (const [name, member] of Object.entries(value)) {
      if (isLeftOut(member)) continue;
      this.#add(`${separator}${JSON.stringify(name)}:`);
      separator = ',';
      await this.#rest();
      await this.write(member);
    }
    this.#add(separator === '{' ? '{}' : '}');
  }

  async write(value: unknown): Promise<void> {
    if (!isObject(value) || roomAfter(value, PIECE) >= 0) this.#piece(value);
    else if (Array.isArray(value)) await this.#writeList(value);
    else await this.#writeMembers(value);
  }

  /** The whole text if it is short; otherwise a mark and the end, for `spliced`. */
  end(pending: Map<string, readonly Buffer[]>): string {
    const last = this.#text;
    this.#count(Buffer.byteLength(last));
    if (this.#chunks.length === 0) return last;
    pending.set(this.#mark, this.#chunks);
    return this.#mark + last;
  }
}

/** Writes the answers of a server as JSON in pieces, with at most a few milliseconds between two of them. */
export class AnswerWriter {
  readonly #scheduler: Scheduler;
  readonly #maxBytes: number;
  readonly #splicing: Splicing = { current: undefined };
  /** The first parts of answers between `stringify` and `spliced`, by mark. */
  readonly #pending = new Map<string, readonly Buffer[]>();

  /** Answers may be of `maxBytes` at most. */
  constructor(scheduler: Scheduler, maxBytes: number) {
    this.#scheduler = scheduler;
    this.#maxBytes = maxBytes;
  }

  /** A value for an answer, which may appear anywhere in it, from the pieces of its JSON in UTF-8. */
  text(...pieces: readonly Buffer[]): JsonText {
    return new JsonText(pieces, this.#splicing);
  }

  /**
   * Serializes an answer. Throws LIMIT_EXCEEDED as soon as the text is too long. Pass the result to `spliced` exactly
   * once; its end may be changed before.
   */
  async stringify(value: unknown): Promise<string> {
    const writer = new Writer(this.#splicing, this.#scheduler, this.#maxBytes);
    await writer.write(value);
    return writer.end(this.#pending);
  }

  /** The full text of a result of `stringify`, without parsing or serializing anything again. */
  spliced(answer: string): string | Buffer {
    const mark = answer.slice(0, MARK_LENGTH);
    const chunks = this.#pending.get(mark);
    if (chunks === undefined) return answer;
    this.#pending.delete(mark);
    return Buffer.concat([...chunks, Buffer.from(answer.slice(MARK_LENGTH))]);
  }

  /** The JSON of the answer to one event; of an error instead if it is too long. */
  async write(answer: object): Promise<string> {
    const written = this.stringify(answer).then((text) => String(this.spliced(text)));
    return written.catch(ifRefused((error) => JSON.stringify({ errors: [formatted(error)] })));
  }
}
