import { randomUUID } from 'node:crypto';

/** What `stringify` has met so far: texts in their order, each marked in the answer by the same word. */
interface Splicing {
  readonly mark: string;
  readonly texts: string[];
}

// JSON.stringify calls toJSON and nothing else, all in one go: no other answer can come in between.
let splicing: Splicing | undefined;

/** A JSON value that was written out beforehand. It may stand anywhere in a value that `stringify` is given. */
export class JsonText {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  /** For JSON.stringify: a mark where `stringify` is at work, else the value. */
  toJSON(): unknown {
    if (splicing === undefined) return JSON.parse(this.text);
    splicing.texts.push(this.text);
    return splicing.mark;
  }
}

/** The JSON of a value, with the texts in it as they are instead of parsed and written once more. */
export function stringify(value: unknown): string {
  // Chosen when all data is there, so that none of it can hold this word.
  const mark = randomUUID();
  const texts: string[] = [];
  splicing = { mark, texts };
  try {
    const written = JSON.stringify(value);
    if (texts.length === 0) return written;
    return written
      .split(`"${mark}"`)
      .map((part, index) => part + (texts[index] ?? ''))
      .join('');
  } finally {
    splicing = undefined;
  }
}
