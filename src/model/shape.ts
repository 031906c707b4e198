import { z } from 'zod';

import { CellportError, shown } from '../errors.js';

/** The known name that has most pairs of letters in common with this one; the first letter counts as a pair. */
export function nearest(name: string, known: readonly string[]): string | undefined {
  const pairs = (text: string) => Array.from(` ${text}`, (_, at) => ` ${text}`.slice(at, at + 2));
  const common = (other: string) => pairs(other).filter((pair) => ` ${name}`.includes(pair)).length / other.length;
  return known.toSorted((a, b) => common(b) - common(a))[0];
}

/** An object with these fields and no others; `allowed` says so for any other value. */
export function fields<const Shape extends z.core.$ZodLooseShape>(shape: Shape, allowed: string) {
  const unknown = (name: string) => `is unknown; the nearest name is ${nearest(name, Object.keys(shape))}`;
  return z.strictObject(shape, {
    error: (issue) => (issue.code === 'unrecognized_keys' ? issue.keys.map(unknown).join('\n') : allowed),
  });
}

/** A record, but refuses the one name that `z.record` drops in silence. */
export const anyNames = <Shape extends z.ZodType>(shape: Shape) =>
  z
    .unknown()
    .refine((given) => !Object.hasOwn(Object(given) as object, '__proto__'), 'must not have the name "__proto__"')
    .pipe(shape);

/** A list of at most so many entries. */
export const list = <Entry extends z.ZodType>(entry: Entry, most: number, what: string) =>
  z.array(entry, `must be a list of ${what}`).max(most, `must be a list of at most ${most} ${what}`);

/** A path for people: `a.b[0].c`. */
const pathText = (path: readonly PropertyKey[]): string =>
  path
    .map((step, at) => (typeof step === 'number' ? `[${step}]` : at === 0 ? String(step) : `.${String(step)}`))
    .join('');

const valueAt = (json: unknown, path: readonly PropertyKey[]): unknown =>
  path.reduce<unknown>(
    (value, step) =>
      typeof value === 'object' && value !== null ? (value as Record<PropertyKey, unknown>)[step] : undefined,
    json,
  );

/** A line for each fault: the path in the document, what is allowed, and the value. */
function faultsIn(
  issues: readonly z.core.$ZodIssue[],
  json: unknown,
  whole: string,
  base: readonly PropertyKey[] = [],
): string[] {
  return issues.flatMap((issue) => {
    const at = [...base, ...issue.path];
    // Of the shapes that it may have, the one that it is nearest to.
    if (issue.code === 'invalid_union' && issue.message === 'Invalid input') {
      const isOther = (errors: typeof issues) =>
        errors.some(({ code, path }) => code === 'invalid_type' && !path.length);
      const near = issue.errors.filter((errors) => !isOther(errors));
      const shapes = (near.length > 0 ? near : issue.errors).map((errors) => faultsIn(errors, json, whole, at));
      return shapes.toSorted((a, b) => a.length - b.length)[0] ?? [];
    }
    if (issue.code === 'unrecognized_keys') {
      return issue.message.split('\n').map((text, index) => `${pathText([...at, issue.keys[index] ?? ''])} ${text}`);
    }
    const value = valueAt(json, at);
    const given = value === undefined ? 'it is missing' : `got ${shown(value)}`;
    return [`${pathText(at) || whole} ${issue.message}; ${given}`];
  });
}

/** The value of a JSON document with this shape. Throws one BAD_USER_INPUT with a line for each fault. */
export function readShape<Shape extends z.ZodType>(shape: Shape, json: unknown, whole: string): z.output<Shape> {
  const parsed = shape.safeParse(json);
  if (parsed.success) return parsed.data;
  const faults = faultsIn(parsed.error.issues, json, whole);
  throw new CellportError('BAD_USER_INPUT', faults.join('\n'), { faults });
}
