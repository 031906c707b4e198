/** Letters that Unicode does not decompose, with their usual transcriptions. */
const PLAIN: Readonly<Record<string, string>> = {
  ß: 'ss',
  æ: 'ae',
  œ: 'oe',
  ø: 'o',
  ł: 'l',
  đ: 'd',
  ð: 'd',
  þ: 'th',
  ħ: 'h',
  ı: 'i',
  ŧ: 't',
};
const NOT_PLAIN = new RegExp(`[${Object.keys(PLAIN).join('')}]`, 'g');
/** The marks of Latin, Greek, Cyrillic, Hebrew and Arabic; those of Indic scripts are vowels, and are kept. */
const MARKS = /[\u0300-\u036f\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u064b-\u065f\u0670]/g;
const BETWEEN_WORDS = /[^\p{L}\p{N}\p{M}]+/u;

/**
 * The words of a text in the form in which they are compared: lower case, without accents, compatible forms unified
 * (NFKD). Anything but letters, digits and the marks of scripts that need them separates words, including control and
 * direction characters.
 */
export function wordsOf(text: string): string[] {
  return text
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll(MARKS, '')
    .normalize('NFC')
    .replaceAll(NOT_PLAIN, (letter) => PLAIN[letter] ?? letter)
    .split(BETWEEN_WORDS)
    .filter((word) => word !== '');
}
