import type { Registry } from 'prom-client';

/** Read and write units. */
export interface Units {
  readonly readUnits: number;
  readonly writeUnits: number;
}

/** What a server consumes of DynamoDB, in units a second, and its hottest partition keys, the hottest first. */
export interface HotKeys extends Units {
  /** The time that this is a mean of. */
  readonly seconds: number;
  /** The most that a key may have consumed beyond what is shown, as a share. */
  readonly missedAtMost: number;
  readonly keys: readonly HotKey[];
}

/** A partition key with its units a second. */
export interface HotKey extends Units {
  readonly table: string;
  /** Null for the table itself. */
  readonly index: string | null;
  readonly key: string;
  /** What the key names, in words. */
  readonly names: string;
  /** The area of the geohash prefix in the key, in degrees; null if it has none. */
  readonly bounds: Readonly<Record<'west' | 'south' | 'east' | 'north', number>> | null;
  /** Of what the server consumes, 0 to 1; a write unit weighs as much as three read units. */
  readonly share: number;
}

/** The capacity that a server consumes, and all other metrics. */
export interface Metrics {
  hotKeys(): HotKeys | Promise<HotKeys>;
  registry(): Registry | Promise<Registry>;
}
