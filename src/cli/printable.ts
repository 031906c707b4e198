/**
 * Text for a terminal: control characters, with which a file could change what the terminal shows or does, become JSON
 * escapes. Line feeds and tabs stay.
 */
export function printable(text: string): string {
  // oxlint-disable-next-line no-control-regex
  return text.replace(/[\0-\x08\x0b-\x1f\x7f-\x9f]/g, (character) => {
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });
}
