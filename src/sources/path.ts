/**
 * An item of a table: text, booleans, null, bytes, lists, maps and sets as JavaScript has them. Numbers are `number`, or
 * `bigint` if they are integers of more than 53 bits; fractions that a double would change may be given as their text.
 */
export type Item = Readonly<Record<string, unknown>>;

/** Steps into an item: names in maps, indexes in lists. */
export type Path = readonly (string | number)[];

const WHOLE = /^[^.[\]]+(?:\[\d{1,9}\])*(?:\.[^.[\]]+(?:\[\d{1,9}\])*)*$/;

/**
 * The steps of a path as mappings have it: `a.b[0].c`, or a list of names and indexes, which may also be JSON text;
 * undefined for anything else.
 */
export function parsePath(written: string | Path): Path | undefined {
  if (typeof written !== 'string') {
    const isStep = (step: string | number) => typeof step === 'string' || (Number.isSafeInteger(step) && step >= 0);
    return typeof written[0] === 'string' && written.every(isStep) ? written : undefined;
  }
  if (WHOLE.test(written)) {
    const steps = written.matchAll(/\[(\d+)\]|[^.[\]]+/g);
    return Array.from(steps, ([name, index]) => (index === undefined ? name : Number(index)));
  }
  try {
    const parsed: unknown = JSON.parse(written);
    const isList = Array.isArray(parsed) && parsed.every((step) => ['string', 'number'].includes(typeof step));
    return isList ? parsePath(parsed as Path) : undefined;
  } catch {
    return undefined;
  }
}

/** A path for people: `a.b[0].c`, whatever its names hold. */
export function pathText(path: Path): string {
  return path.map((step, at) => (typeof step === 'number' ? `[${step}]` : at === 0 ? step : `.${step}`)).join('');
}

/** A path as mappings have it: parsePath(writePath(path)) = path. */
export function writePath(path: Path): string | (string | number)[] {
  const text = pathText(path);
  return JSON.stringify(parsePath(text)) === JSON.stringify(path) ? text : [...path];
}

/** Whether a value is a map; lists, sets and bytes are objects, too. */
export function isMap(value: unknown): value is Item {
  const isObject = typeof value === 'object' && value !== null;
  return isObject && !Array.isArray(value) && !(value instanceof Set) && !(value instanceof Uint8Array);
}

/** The value at a path; undefined if there is none. */
export function valueAt(item: Item, path: Path): unknown {
  let value: unknown = item;
  for (const step of path) {
    if (typeof step === 'number') value = Array.isArray(value) ? (value[step] as unknown) : undefined;
    else value = isMap(value) && Object.hasOwn(value, step) ? value[step] : undefined;
  }
  return value;
}

/** A number in decimal digits, without an exponent. */
function decimalText(value: number | bigint): string {
  const [mantissa = '', exponent] = String(value).split('e');
  if (exponent === undefined) return mantissa;
  const [sign, digits] = mantissa.startsWith('-') ? ['-', mantissa.slice(1)] : ['', mantissa];
  const [whole = '', fraction = ''] = digits.split('.');
  const shift = Number(exponent);
  // JavaScript writes an exponent from 21 on, and has no more than 17 digits.
  if (shift > 0) return sign + (whole + fraction).padEnd(shift + 1, '0');
  return `${sign}0.${'0'.repeat(-shift - 1)}${whole}${fraction}`;
}

/** A value as part of a key: text, numbers in decimal digits, bytes in base64; undefined for other or empty ones. */
export function keyText(value: unknown): string | undefined {
  if (typeof value === 'number' || typeof value === 'bigint') return decimalText(value);
  if (value instanceof Uint8Array) return Buffer.from(value).toString('base64') || undefined;
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** A name or category: text, even if empty, numbers in decimal digits, or true and false; null for anything else. */
export function label(value: unknown): string | null {
  if (value === '' || typeof value === 'boolean') return String(value);
  return value instanceof Uint8Array ? null : (keyText(value) ?? null);
}
