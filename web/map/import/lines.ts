import { encodingOfSample, endsWithReturns, SAMPLE_BYTES } from '../../../src/ingest/rows/text-encoding.js';

/** The text is not UTF-8, as old spreadsheets write it. */
export class NotUtf8 extends Error {
  override readonly message = 'This file is not UTF-8 text. Save it as “CSV UTF-8”, or convert it first.';
}

/** How a file is written: its encoding, and the beginning of its text. */
export async function textForm(file: Blob, isTable: boolean) {
  const sample = new Uint8Array(await file.slice(0, SAMPLE_BYTES).arrayBuffer());
  const encoding = encodingOfSample(sample, isTable);
  return { encoding, beginning: new TextDecoder(encoding).decode(sample, { stream: true }) };
}

/**
 * Yields a file's text in pieces, without a byte order mark, its lines ended by line feeds. `onRead` receives the number of
 * bytes read so far.
 */
export async function* readText(
  file: Blob,
  { encoding, beginning }: Awaited<ReturnType<typeof textForm>>,
  onRead: (bytes: number) => void = () => undefined,
): AsyncGenerator<string> {
  const decoder = new TextDecoder(encoding, { fatal: true });
  const returns = endsWithReturns(beginning);
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
      const text = decode(value);
      yield returns ? text.replaceAll('\r', '\n') : text;
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

/** Yields the lines of a text without their terminators, or the parts between another separator, with their lines. */
export async function* linesOf(pieces: AsyncIterable<string>, separator = '\n'): AsyncGenerator<readonly Lines[]> {
  let rest = '';
  let line = 1;
  const number = (text: string): Lines => {
    const begins = line;
    line += `${text}${separator}`.split('\n').length - 1;
    return { line: begins, text: text.endsWith('\r') ? text.slice(0, -1) : text };
  };
  for await (const piece of pieces) {
    const texts = (rest + piece).split(separator);
    rest = texts.pop() ?? '';
    if (texts.length > 0) yield texts.map(number);
  }
  if (rest !== '') yield [number(rest)];
}
