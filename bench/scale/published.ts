/** What AWS publishes of DynamoDB's partitions, as far as the simulated table needs it. test/capacity/scale names the pages. */
export const PUBLISHED = {
  /** Units a second and 2^30 bytes of one partition. */
  partition: { read: 3_000, write: 1_000, bytes: 10 * 2 ** 30 },
  /** Unused capacity is kept for so long. */
  burstSeconds: 300,
  /** Units a second that a new table on demand takes at once, and the partitions that it has for them. */
  onDemand: { read: 12_000, write: 4_000, partitions: 4 },
  /** A table on demand takes at once so many times its previous peak, and a higher one after so long. */
  growth: { factor: 2, seconds: 1_800 },
  /** Units a second that a table on demand takes unless AWS raises it on request. */
  tableQuota: { read: 40_000, write: 40_000 },
} as const;

/**
 * Our assumptions, where AWS publishes no figure: how long a partition is under full load before it is split for heat, and
 * which share of its limit counts as full.
 */
export const ASSUMED = { heatSeconds: 600, heatShare: 0.9 } as const;

export const KINDS = ['read', 'write'] as const;
export type Kind = (typeof KINDS)[number];
/** Units, or units a second, of each kind. */
export type Units = Readonly<Record<Kind, number>>;
