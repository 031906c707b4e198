import type { Keyspace } from '../../src/keys/keyspace.js';
import type { StreamRecord, WireImage } from '../../src/stream/change.js';

interface RecordInput {
  readonly sequence: string;
  readonly key: string;
  readonly scope?: string;
  /** Seconds since 1970. */
  readonly at?: number;
  readonly before?: readonly [lng: number, lat: number];
  readonly after?: readonly [lng: number, lat: number];
  readonly properties?: Readonly<Record<string, string>>;
  /** Those before the change, unless they are the same. */
  readonly former?: Readonly<Record<string, string>>;
  /** Of the marker. */
  readonly createdAt?: string;
}

const texts = (values: Readonly<Record<string, string>>) =>
  Object.fromEntries(Object.entries(values).map(([name, text]) => [name, { S: text }]));

/** A record of a marker as in the stream, with only the fields that are read. */
export function markerRecord(keys: Keyspace, input: RecordInput): StreamRecord {
  const { sequence, key, scope = 'parks', at = Math.floor(Date.now() / 1_000), properties = {} } = input;
  const { createdAt = '2026-11-21T10:00:00.000Z' } = input;
  const named = texts({ ...keys.marker(scope, key) });
  const image = (
    position: readonly [lng: number, lat: number] | undefined,
    shown = properties,
  ): WireImage | undefined =>
    position && {
      ...named,
      lng: { N: String(position[0]) },
      lat: { N: String(position[1]) },
      mc: { BOOL: true },
      m: { M: texts(shown) },
      createdAt: { S: createdAt },
    };
  const before = image(input.before, input.former);
  return { sequence, event: '', at: at * 1_000, keys: named, before, after: image(input.after) };
}
