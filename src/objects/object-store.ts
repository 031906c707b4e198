/**
 * Where bodies lie that are too large for an item of the table: a folder, or a bucket of S3. An object is written whole or
 * not at all, and another one under the same name takes its place. A name is one or more parts of letters, digits, `_`, `-`
 * and `.`, up to 200 each and not `.` or `..`, with slashes between them; no name goes on behind another one and a slash.
 * Every method throws UNAVAILABLE, with the reason as its cause, where the store does not answer in time or refuses.
 */
export interface ObjectStore {
  /** For a human: where the objects lie, e.g. `/srv/map/objects` or `s3://bucket/prefix`. */
  readonly place: string;
  /** Stores a body; it is there for everyone, and stays, once this has resolved. A name that none can be is an Error. */
  put(name: string, body: Uint8Array): Promise<void>;
  /** The body of this name; undefined where there is none. */
  get(name: string): Promise<Uint8Array | undefined>;
  /** Takes an object away; one that is not there is no error. */
  remove(name: string): Promise<void>;
  /**
   * All objects, in no particular order, read bit by bit; of those that come or go meanwhile any may be missing. What a put
   * left behind whose process was killed is among them, under a name that begins with `.writing/`.
   */
  list(): AsyncIterable<{ readonly name: string; readonly modifiedAt: Date }>;
}

const NAME = /^(?!(?:.*\/)?\.\.?(?:\/|$))[\w.-]{1,200}(?:\/[\w.-]{1,200})*$/;
/** S3 takes 1024 bytes, of which a prefix has some. */
const LONGEST_NAME = 600;

/** Whether an object can have this name, in any store. */
export function isObjectName(name: string): boolean {
  return name.length <= LONGEST_NAME && NAME.test(name);
}

/** Throws an Error where no object can have this name: whoever makes names makes them right. */
export function checkObjectName(name: string): void {
  if (!isObjectName(name)) throw new Error(`no object can have the name ${JSON.stringify(name)}`);
}
