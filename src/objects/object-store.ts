/**
 * Storage for bodies that are too large for a table item: a folder or an S3 bucket. Writes are atomic and replace an
 * object of the same name. A name has one or more parts of letters, digits, `_`, `-` and `.`, of at most 200 characters
 * and not `.` or `..`, separated by slashes; no name may extend another one by a slash and more parts. Every method throws
 * UNAVAILABLE, with its cause, if the store fails or does not respond in time.
 */
export interface ObjectStore {
  /** Location of the objects, for display, such as `/srv/map/objects` or `s3://bucket/prefix`. */
  readonly place: string;
  /** Stores a body durably: every reader finds it once this has resolved. Throws an Error for an invalid name. */
  put(name: string, body: Uint8Array): Promise<void>;
  /** The body of an object; undefined if it does not exist. */
  get(name: string): Promise<Uint8Array | undefined>;
  /** Removes an object, if it exists. */
  remove(name: string): Promise<void>;
  /**
   * All objects in no particular order, read incrementally; those created or removed meanwhile may be missing. Includes
   * partial files of killed processes, with names that begin with `.writing/`.
   */
  list(): AsyncIterable<{ readonly name: string; readonly modifiedAt: Date }>;
}

const NAME = /^(?!(?:.*\/)?\.\.?(?:\/|$))[\w.-]{1,200}(?:\/[\w.-]{1,200})*$/;
/** S3 allows 1,024 bytes, including the prefix. */
const LONGEST_NAME = 600;

/** Whether this is a valid object name in any store. */
export function isObjectName(name: string): boolean {
  return name.length <= LONGEST_NAME && NAME.test(name);
}

/** Throws an Error for an invalid name, not a CellportError: names come from Cellport, not from clients. */
export function checkObjectName(name: string): void {
  if (!isObjectName(name)) throw new Error(`invalid object name: ${JSON.stringify(name)}`);
}
