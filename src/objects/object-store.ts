/**
 * Where bodies lie that are too large for an item of the table: a folder, or a bucket of S3. An object is written whole or
 * not at all, and another one under the same name takes its place. Every method throws UNAVAILABLE where the store does
 * not answer in time or refuses, with its words as the cause.
 */
export interface ObjectStore {
  /** For a human: where the objects lie, e.g. `/srv/map/objects` or `s3://bucket/prefix`. */
  readonly place: string;
  /** Stores a body; it is there for everyone, and stays, once this has resolved. */
  put(name: string, body: Uint8Array): Promise<void>;
  /** The body of this name; undefined where there is none. */
  get(name: string): Promise<Uint8Array | undefined>;
  /** Takes an object away; one that is not there is no error. */
  remove(name: string): Promise<void>;
  /** All objects, in no particular order, read page by page. Those that come or go meanwhile may be missing. */
  list(): AsyncIterable<{ readonly name: string; readonly modifiedAt: Date }>;
}
