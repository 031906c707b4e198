import { randomUUID } from 'node:crypto';

/** The JSON texts that `stringify` has found, in order; each is replaced by the same mark. */
interface Splicing {
  readonly mark: string;
  readonly texts: Buffer[];
}

// JSON.stringify is synchronous, so no other response can interfere.
let splicing: Splicing | undefined;

/** Texts of responses between `stringify` and `spliced`, by mark. */
const pending = new Map<string, readonly Buffer[]>();
const MARK_LENGTH = 36;

/** A JSON value that is already serialised, in UTF-8, anywhere in a value for `stringify`. */
export class JsonText {
  readonly bytes: Buffer;

  constructor(bytes: Buffer) {
    this.bytes = bytes;
  }

  get text(): string {
    return this.bytes.toString();
  }

  /** The mark inside of `stringify`, the value otherwise. */
  toJSON(): unknown {
    if (splicing === undefined) return JSON.parse(this.text);
    splicing.texts.push(this.bytes);
    return splicing.mark;
  }
}

/**
 * The JSON of a value. If it contains a JsonText, the result has to be passed to `spliced` exactly once, which inserts the
 * texts; its end may be changed before.
 */
export function stringify(value: unknown): string {
  // Random, and chosen after the data exists, so that the data cannot contain it.
  const mark = randomUUID();
  const texts: Buffer[] = [];
  splicing = { mark, texts };
  try {
    const written = JSON.stringify(value);
    if (texts.length === 0) return written;
    pending.set(mark, texts);
    return mark + written;
  } finally {
    splicing = undefined;
  }
}

/** A result of `stringify` with its texts inserted, without parsing or serialising them again. */
export function spliced(answer: string): string | Buffer {
  const mark = answer.slice(0, MARK_LENGTH);
  const texts = pending.get(mark);
  if (texts === undefined) return answer;
  pending.delete(mark);
  const parts = answer.slice(MARK_LENGTH).split(`"${mark}"`);
  return Buffer.concat(parts.flatMap((part, index) => [Buffer.from(part), texts[index] ?? Buffer.alloc(0)]));
}
