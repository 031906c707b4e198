/*
 * The cost model of every plan, in steps of half a read unit: the least that a request for an item costs (4 KB,
 * eventually consistent). All values were found by trial on 135,233 cities.
 */

const STEP_BYTES = 4_096;

/** Read units of one request for a number of bytes: half a unit per 4 KB, and at least that. */
export const unitsOf = (bytes: number): number => Math.max(1, Math.ceil(bytes / STEP_BYTES)) / 2;

/** Expected steps of a Query: at least one, and on average half a step is lost to rounding. */
export const stepsByQuery = (bytes: number): number => Math.max(1, bytes / STEP_BYTES + 0.5);

/**
 * What a request costs besides its steps, for neighboring pages and for scattered ones. From 0.1 to 0.75 make little
 * difference for maps, but with that value a nearest query takes a quarter more calls.
 */
export const REQUEST = 0.5;
export const SCATTERED_REQUEST = 2;

/**
 * Number of cell blocks, up to 40 KB, whose gap costs as much to read as another Query. Maps of clusters without a
 * cache take 10.6 calls and 11.0 units with 64, 8.8 and 11.1 with 128, 7.4 and 12.0 with 256.
 */
export const HEAVY_BLOCKS = 128;

/**
 * Share of a cover whose gap costs as much to read from a geo index as another Query: nobody knows how many entries are
 * in it.
 */
export const HEAVY_SHARE = 0.8;

/** How many read units cost as much as a write unit, in the on-demand prices of AWS. */
export const READS_OF_A_WRITE = 5;
