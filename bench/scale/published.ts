/**
 * Figures that AWS publishes about DynamoDB's partitions, as far as the simulated table needs them. test/capacity/scale
 * names the pages.
 */
export const PUBLISHED = {
  /** Units per second and bytes of one partition. */
  partition: { read: 3_000, write: 1_000, bytes: 10 * 2 ** 30 },
  /** How long unused capacity is saved. */
  burstSeconds: 300,
  /** Units per second of a new on-demand table, and its number of partitions. */
  onDemand: { read: 12_000, write: 4_000, partitions: 4 },
  /** An on-demand table immediately serves this multiple of its previous peak, and a higher one after this time. */
  growth: { factor: 2, seconds: 1_800 },
  /** Maximum units per second of an on-demand table unless AWS raises it on request. */
  tableQuota: { read: 40_000, write: 40_000 },
} as const;

/**
 * Our assumptions, where AWS publishes no figure: how long a partition is under full load before it is split for heat, and
 * which share of its limit counts as full.
 */
export const ASSUMED = { heatSeconds: 600, heatShare: 0.9 } as const;

export const KINDS = ['read', 'write'] as const;
export type Kind = (typeof KINDS)[number];
/** Units, or units per second, of each kind. */
export type Units = Readonly<Record<Kind, number>>;
