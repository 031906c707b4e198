/** How many bytes of a file are read to see how it is written. */
export const SAMPLE_BYTES = 1024 * 1024;

/** How often the bytes have U+FFFD itself, the sign of a character that was lost earlier. */
function replacementsIn(bytes: Uint8Array): number {
  let count = 0;
  for (let at = bytes.indexOf(0xef); at >= 0; at = bytes.indexOf(0xef, at + 1)) {
    if (bytes[at + 1] === 0xbf && bytes[at + 2] === 0xbd) count += 1;
  }
  return count;
}

/**
 * Detects the encoding of a text from its first megabyte: UTF-16 if it has that byte order mark, or begins with a
 * character of ASCII in it; a table is in Windows-1252 if more of its characters are invalid than valid as UTF-8.
 */
export function encodingOfSample(sample: Uint8Array, isTable = true): string {
  if (sample[0] === 0xff && sample[1] === 0xfe) return 'utf-16le';
  if (sample[0] === 0xfe && sample[1] === 0xff) return 'utf-16be';
  // A text has no zeros; as UTF-16, its first character, which is of a name or JSON, has one.
  if (sample[0] === 0 || sample[1] === 0) return sample[0] === 0 ? 'utf-16be' : 'utf-16le';
  if (!isTable) return 'utf-8';
  // Streaming, because the sample may end within a character.
  const text = new TextDecoder().decode(sample, { stream: true });
  const invalid = text.split('\ufffd').length - 1 - replacementsIn(sample);
  return invalid > (text.match(/[\u0080-\ufffc]/g)?.length ?? 0) ? 'windows-1252' : 'utf-8';
}

/** Whether lines end with a carriage return alone, as on old Macintoshes; from the beginning of a text. */
export const endsWithReturns = (beginning: string): boolean => /\r(?!$)/.test(beginning) && !beginning.includes('\n');
