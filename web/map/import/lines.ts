import { type Encoding, SAMPLE_BYTES, encodingOfSample } from '../../../src/ingest/rows/text-encoding.js';

/** The text is not UTF-8, as old spreadsheets write it. */
export class NotUtf8 extends Error {
  override readonly message = 'This file is not UTF-8 text. Save it as “CSV UTF-8”, or convert it first.';
}

/** The encoding of a file that a spreadsheet may have written. */
export const tableEncoding = async (file: Blob): Promise<Encoding> =>
  encodingOfSample(new Uint8Array(await file.slice(0, SAMPLE_BYTES).arrayBuffer()));

/** Yields a file's text in pieces, without a byte order mark. `onRead` receives the number of bytes read so far. */
export async function* readText(
  file: Blob,
  onRead: (bytes: number) => void = () => undefined,
  encoding: Encoding = 'utf-8',
): AsyncGenerator<string> {
  const decoder = new TextDecoder(encoding, { fatal: true });
  const reader = file.stream().getReader();
  const decode = (bytes?: Uint8Array) => {
    try {
      return bytes ? decoder.decode(bytes, { stream: true }) : decoder.decode();
    } catch {
      throw new NotUtf8();
    }
  };
  let read = 0;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      yield decode(value);
      read += value?.length ?? 0;
      onRead(read);
      if (done) return;
    }
  } finally {
    await reader.cancel();
  }
}

/** One or more lines, with the number of the first one, starting from 1. */
export interface Lines {
  readonly line: number;
  readonly text: string;
}

/** Yields the lines of a text without their terminators. Only a line feed ends a line. */
export async function* linesOf(pieces: AsyncIterable<string>): AsyncGenerator<readonly Lines[]> {
  let rest = '';
  let line = 1;
  const number = (text: string): Lines => ({ line: line++, text: text.endsWith('\r') ? text.slice(0, -1) : text });
  for await (const piece of pieces) {
    const texts = (rest + piece).split('\n');
    rest = texts.pop() ?? '';
    if (texts.length > 0) yield texts.map(number);
  }
  if (rest !== '') yield [number(rest)];
}
