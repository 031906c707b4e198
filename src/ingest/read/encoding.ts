import { type Chunk, readBytes } from './bytes.js';

/** The encodings that spreadsheets write. */
export type Encoding = 'utf-8' | 'utf-16le' | 'utf-16be' | 'windows-1252';

const SAMPLE_BYTES = 1024 * 1024;

/** The characters of the bytes from 0x80 to 0x9f; elsewhere Windows-1252 is Latin-1. TextDecoder of Node 20 leaves them. */
const WINDOWS = '€\x81‚ƒ„…†‡ˆ‰Š‹Œ\x8dŽ\x8f\x90‘’“”•–—˜™š›œ\x9džŸ';

/**
 * The encoding of a text file by its first megabyte: UTF-16 if a byte order mark says so, Windows-1252 if more of its
 * characters are invalid than valid as UTF-8. Throws as `readBytes` does.
 */
export async function encodingOf(path: string): Promise<Encoding> {
  const parts: Buffer[] = [];
  let length = 0;
  for await (const { bytes } of readBytes(path)) {
    parts.push(bytes);
    length += bytes.length;
    if (length >= SAMPLE_BYTES) break;
  }
  const sample = Buffer.concat(parts);
  if (sample[0] === 0xff && sample[1] === 0xfe) return 'utf-16le';
  if (sample[0] === 0xfe && sample[1] === 0xff) return 'utf-16be';
  // Streaming: the sample may end within a character.
  const text = new TextDecoder().decode(sample, { stream: true });
  const invalid = text.split('\ufffd').length - 1;
  return invalid > (text.match(/[\u0080-\ufffc]/g)?.length ?? 0) ? 'windows-1252' : 'utf-8';
}

function decoderOf(encoding: Encoding): (bytes?: Buffer) => string {
  if (encoding === 'windows-1252') {
    return (bytes) =>
      bytes?.toString('latin1').replace(/[\x80-\x9f]/g, (byte) => WINDOWS[byte.charCodeAt(0) - 0x80] ?? byte) ?? '';
  }
  const decoder = new TextDecoder(encoding);
  return (bytes) => decoder.decode(bytes, { stream: bytes !== undefined });
}

/** The text of a file in UTF-8, without a byte order mark; offsets are those of that text. */
export async function* readText(path: string, encoding: Encoding): AsyncGenerator<Chunk> {
  if (encoding === 'utf-8') return yield* readBytes(path);
  const decode = decoderOf(encoding);
  let start = 0;
  for await (const { bytes } of readBytes(path)) {
    const text = Buffer.from(decode(bytes));
    yield { start, bytes: text };
    start += text.length;
  }
  yield { start, bytes: Buffer.from(decode()) };
}
