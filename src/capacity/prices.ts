/** What DynamoDB costs, in USD. */
export interface Prices {
  /** A million read or write request units on demand. */
  readonly onDemandRead: number;
  readonly onDemandWrite: number;
  /** A provisioned unit for an hour. */
  readonly provisionedRead: number;
  readonly provisionedWrite: number;
  /** A GB for a month. */
  readonly storage: number;
}

/** The price list that is used if none is given: Standard table class, without the free tier and reserved capacity. */
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

/** As AWS's price examples count it. */
export const HOURS_A_MONTH = 730;
const SECONDS_A_MONTH = HOURS_A_MONTH * 3_600;
const MILLION = 1_000_000;

/** Units a second and stored GB. */
export interface Use {
  readonly rcu: number;
  readonly wcu: number;
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

/** USD a month on demand, for the units that are used on average. */
export function onDemandCost({ rcu, wcu, gb }: Use, prices: Prices): MonthlyCost {
  const millions = (units: number) => (units * SECONDS_A_MONTH) / MILLION;
  return costOf(millions(rcu) * prices.onDemandRead, millions(wcu) * prices.onDemandWrite, gb * prices.storage);
}

/** USD a month for provisioned units that suffice at the peak, at any time of day. */
export function provisionedCost({ rcu, wcu, gb }: Use, prices: Prices): MonthlyCost {
  const hours = (units: number) => Math.ceil(units) * HOURS_A_MONTH;
  return costOf(hours(rcu) * prices.provisionedRead, hours(wcu) * prices.provisionedWrite, gb * prices.storage);
}
