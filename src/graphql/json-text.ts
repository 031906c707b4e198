import { randomUUID } from 'node:crypto';

/** What `stringify` has met so far: texts in their order, each marked in the answer by the same word. */
interface Splicing {
  readonly mark: string;
  readonly texts: Buffer[];
}

// JSON.stringify calls toJSON and nothing else, all in one go: no other answer can come in between.
let splicing: Splicing | undefined;

/** Texts of answers that are on their way from `stringify` to `spliced`, by their marks. */
const onTheirWay = new Map<string, readonly Buffer[]>();
const MARK_LENGTH = 36;

/** A JSON value that was written out beforehand, in UTF-8. It may stand anywhere in a value that `stringify` is given. */
export class JsonText {
  readonly bytes: Buffer;

  constructor(bytes: Buffer) {
    this.bytes = bytes;
  }

  get text(): string {
    return this.bytes.toString();
  }

  /** For JSON.stringify: a mark where `stringify` is at work, else the value. */
  toJSON(): unknown {
    if (splicing === undefined) return JSON.parse(this.text);
    splicing.texts.push(this.bytes);
    return splicing.mark;
  }
}

/**
 * The JSON of a value. Where there are texts in it, they are still to be put in by `spliced`, to which the answer has to
 * be given once, whatever else is done to its end.
 */
export function stringify(value: unknown): string {
  // Chosen when all data is there, so that none of it can hold this word.
  const mark = randomUUID();
  const texts: Buffer[] = [];
  splicing = { mark, texts };
  try {
    const written = JSON.stringify(value);
    if (texts.length === 0) return written;
    onTheirWay.set(mark, texts);
    return mark + written;
  } finally {
    splicing = undefined;
  }
}

/** An answer of `stringify` with its texts in it as they are: neither parsed nor written once more. */
export function spliced(answer: string): string | Buffer {
  const mark = answer.slice(0, MARK_LENGTH);
  const texts = onTheirWay.get(mark);
  if (texts === undefined) return answer;
  onTheirWay.delete(mark);
  const parts = answer.slice(MARK_LENGTH).split(`"${mark}"`);
  return Buffer.concat(parts.flatMap((part, index) => [Buffer.from(part), texts[index] ?? Buffer.alloc(0)]));
}
