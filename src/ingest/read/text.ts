import { badInput } from '../../errors.js';
import { encodingOfSample, endsWithReturns, SAMPLE_BYTES } from '../rows/text-encoding.js';
import { readBytes, type Chunk } from './bytes.js';

/**
 * Characters for the bytes 0x80 to 0x9f; the rest of Windows-1252 equals Latin-1. Node 20's TextDecoder does not map
 * them.
 */
const WINDOWS = '€\x81‚ƒ„…†‡ˆ‰Š‹Œ\x8dŽ\x8f\x90‘’“”•–—˜™š›œ\x9džŸ';

/** How the text of a file is written. */
export interface TextForm {
  /** Its name in the WHATWG standard, e.g. windows-1252. */
  readonly encoding: string;
  /** Whether only carriage returns end its lines. */
  readonly returns: boolean;
  /** Up to its first megabyte. */
  readonly beginning: string;
  readonly notes: readonly string[];
}

/** The name of an encoding. Throws BAD_USER_INPUT for one that TextDecoder does not know. */
function encodingNamed(label: string): string {
  try {
    return new TextDecoder(label).encoding;
  } catch {
    throw badInput(
      '--encoding',
      label,
      'an encoding that TextDecoder knows, such as windows-1250, iso-8859-2 or utf-16le',
    );
  }
}

function decoderOf(encoding: string): (bytes?: Buffer) => string {
  if (encoding === 'windows-1252') {
    return (bytes) =>
      bytes?.toString('latin1').replace(/[\x80-\x9f]/g, (byte) => WINDOWS[byte.charCodeAt(0) - 0x80] ?? byte) ?? '';
  }
  const decoder = new TextDecoder(encoding);
  return (bytes) => decoder.decode(bytes, { stream: bytes !== undefined });
}

/** How a file is written, by its first megabyte, or in an encoding with some label. Throws as `readBytes` does. */
export async function formOf(path: string, isTable: boolean, label: string | undefined): Promise<TextForm> {
  const given = label === undefined ? undefined : encodingNamed(label);
  const parts: Buffer[] = [];
  let length = 0;
  for await (const { bytes } of readBytes(path)) {
    parts.push(bytes);
    length += bytes.length;
    if (length >= SAMPLE_BYTES) break;
  }
  const sample = Buffer.concat(parts);
  const encoding = given ?? encodingOfSample(sample, isTable);
  const beginning = decoderOf(encoding)(sample);
  const isGuess = given === undefined && encoding !== 'utf-8';
  const notes = isGuess ? [`read as ${encoding}: if letters are wrong, pass --encoding, e.g. windows-1250`] : [];
  return { encoding, returns: endsWithReturns(beginning), beginning, notes };
}

/** Whether the text of a file is its bytes. */
export const isPlain = ({ encoding, returns }: TextForm): boolean => encoding === 'utf-8' && !returns;

/** Yields a file's text in UTF-8, without a byte order mark, its lines ended by line feeds; offsets are those of that text. */
export async function* readText(path: string, form: TextForm): AsyncGenerator<Chunk> {
  const { encoding, returns } = form;
  if (isPlain(form)) return yield* readBytes(path);
  const decode = encoding === 'utf-8' ? undefined : decoderOf(encoding);
  const withFeeds = (bytes: Buffer): Buffer => bytes.map((byte) => (byte === 0x0d ? 0x0a : byte)) as Buffer;
  let start = 0;
  for await (const { bytes } of readBytes(path)) {
    const text = decode === undefined ? bytes : Buffer.from(decode(bytes));
    yield { start, bytes: returns ? withFeeds(text) : text };
    start += text.length;
  }
  if (decode !== undefined) yield { start, bytes: Buffer.from(decode()) };
}
