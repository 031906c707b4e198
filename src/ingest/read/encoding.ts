import { type Encoding, SAMPLE_BYTES, encodingOfSample } from '../rows/text-encoding.js';
import { type Chunk, readBytes } from './bytes.js';

/**
 * Characters for the bytes 0x80 to 0x9f; the rest of Windows-1252 equals Latin-1. Node 20's TextDecoder does not map
 * them.
 */
const WINDOWS = '€\x81‚ƒ„…†‡ˆ‰Š‹Œ\x8dŽ\x8f\x90‘’“”•–—˜™š›œ\x9džŸ';

/** The encoding of a text file, see `encodingOfSample`. Throws as `readBytes` does. */
export async function encodingOf(path: string): Promise<Encoding> {
  const parts: Buffer[] = [];
  let length = 0;
  for await (const { bytes } of readBytes(path)) {
    parts.push(bytes);
    length += bytes.length;
    if (length >= SAMPLE_BYTES) break;
  }
  return encodingOfSample(Buffer.concat(parts));
}

function decoderOf(encoding: Encoding): (bytes?: Buffer) => string {
  if (encoding === 'windows-1252') {
    return (bytes) =>
      bytes?.toString('latin1').replace(/[\x80-\x9f]/g, (byte) => WINDOWS[byte.charCodeAt(0) - 0x80] ?? byte) ?? '';
  }
  const decoder = new TextDecoder(encoding);
  return (bytes) => decoder.decode(bytes, { stream: bytes !== undefined });
}

/** Yields a file's text in UTF-8, without a byte order mark; offsets are those of that text. */
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
