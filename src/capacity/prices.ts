/** DynamoDB prices in USD. */
export interface Prices {
  /** A million read or write request units on demand. */
  readonly onDemandRead: number;
  readonly onDemandWrite: number;
  /** A provisioned unit per hour. */
  readonly provisionedRead: number;
  readonly provisionedWrite: number;
  /** A GB per month. */
  readonly storage: number;
}

/** The default price list: Standard table class, without the free tier and reserved capacity. */
export const PRICE_LIST = {
  region: 'us-east-1',
  date: '2026-11',
  sources: [
    'https://aws.amazon.com/dynamodb/pricing/on-demand/',
    'https://aws.amazon.com/dynamodb/pricing/provisioned/',
  ],
  prices: {
    onDemandRead: 0.125,
    onDemandWrite: 0.625,
    provisionedRead: 0.00013,
    provisionedWrite: 0.00065,
    storage: 0.25,
  } satisfies Prices,
} as const;

/** As in AWS's price examples. */
export const HOURS_A_MONTH = 730;
const SECONDS_A_MONTH = HOURS_A_MONTH * 3_600;
const MILLION = 1_000_000;

/** Load of a table in units per second, and its stored size. */
export interface Demand {
  readonly rcu: number;
  readonly wcu: number;
  /** In units of 2^30 bytes. */
  readonly gb: number;
}

export interface MonthlyCost {
  readonly reads: number;
  readonly writes: number;
  readonly storage: number;
  readonly total: number;
}

const costOf = (reads: number, writes: number, storage: number): MonthlyCost => ({
  reads,
  writes,
  storage,
  total: reads + writes + storage,
});

/** USD per month on demand, for the mean units used. */
export function onDemandCost({ rcu, wcu, gb }: Demand, prices: Prices): MonthlyCost {
  const millions = (units: number) => (units * SECONDS_A_MONTH) / MILLION;
  return costOf(millions(rcu) * prices.onDemandRead, millions(wcu) * prices.onDemandWrite, gb * prices.storage);
}

/** USD per month for provisioned units that cover the peak around the clock. */
export function provisionedCost({ rcu, wcu, gb }: Demand, prices: Prices): MonthlyCost {
  const hours = (units: number) => Math.ceil(units) * HOURS_A_MONTH;
  return costOf(hours(rcu) * prices.provisionedRead, hours(wcu) * prices.provisionedWrite, gb * prices.storage);
}
