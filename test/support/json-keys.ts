JSON.parse('{"":0,"\\\\":0}');
const [, newline] = Object.keys(JSON.parse('{"":0,"\\n":0}') as object);

/**
 * Whether this Node version parses the keys of a JSON value correctly. Since V8 12.8, and so in Node 24, JSON.parse may
 * confuse an escaped key with another one that begins with a backslash: https://github.com/nodejs/node/issues/63785
 */
export function readsKeysOf(value: unknown): boolean {
  return newline === '\n' || !JSON.stringify(value).includes('\\');
}
