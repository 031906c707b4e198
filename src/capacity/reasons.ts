import { PARTITION_LIMITS } from '../model/dynamodb-limits.js';
import { LAYOUT_LIMITS } from '../model/limits.js';
import type { Candidate, IndexLoad } from './candidates.js';

/** The facts that explain a recommendation. */
export interface Grounds {
  readonly best: Candidate;
  readonly candidates: readonly Candidate[];
  readonly index: IndexLoad;
  readonly style: 'readable' | 'compact';
  /** The share of the cost of writes and storage that compact keys save, 0 to 1. */
  readonly saved: number;
  readonly pages: { readonly hottest: string; readonly share: number; readonly readUnits: number };
}

const figure = (value: number) =>
  value !== 0 && Math.abs(value) < 10
    ? String(Number(value.toPrecision(2)))
    : Math.round(value).toLocaleString('en-US');
const percent = (part: number) => `${figure(part * 100)}%`;
const shards = (count: number) => `${count} write shard${count === 1 ? '' : 's'}`;
const describePrefix = (prefix: string) => (prefix === '' ? 'the whole world' : `prefix ${prefix}`);

function ofKey({ best }: Grounds): string {
  const { prefixLength, writeShards, hottest, hottestKey, fits } = best;
  const { readUnits, writeUnits, gigabytes } = PARTITION_LIMITS;
  const shard = writeShards === 1 ? '' : `, in ${writeShards} shards`;
  const bears =
    `${figure(hottestKey.writeUnits)} of ${writeUnits} write units, ${figure(hottestKey.readUnits)} of ${readUnits} ` +
    `read units per second and ${figure(hottestKey.gigabytes)} of ${gigabytes} GB`;
  const key = `With prefixLength ${prefixLength} the hottest partition key (${describePrefix(hottest.prefix)}, ${percent(hottest.share)} of the markers${shard}) uses ${bears}.`;
  return fits
    ? key
    : `${key} No layout stays within the limits, even with the maximum of ${LAYOUT_LIMITS.writeShards} shards. Split these markers into several collections.`;
}

function ofCost({ best, candidates }: Grounds): string {
  const { prefixLength, map } = best;
  const cost = `A map of up to 2,000 markers takes ${figure(map.calls)} Query calls and ${figure(map.units)} read units on the index`;
  const longer = candidates.find((each) => each.fits && each.prefixLength === prefixLength + 1);
  if (!longer) return `${cost}.`;
  const { calls, units } = longer.map;
  return `${cost}; with prefixLength ${longer.prefixLength} and ${shards(longer.writeShards)} ${figure(calls)} and ${figure(units)}.`;
}

function ofShorter({ best, candidates }: Grounds): string[] {
  const shorter = candidates.find(({ prefixLength }) => prefixLength === best.prefixLength - 1);
  if (!shorter) return [];
  const { prefixLength, writeShards, map, fits } = shorter;
  return [
    fits
      ? `prefixLength ${prefixLength} would need ${shards(writeShards)} and ${figure(map.calls)} Query calls.`
      : `prefixLength ${prefixLength} would need more than ${LAYOUT_LIMITS.writeShards} write shards.`,
  ];
}

/** The reasons for a recommended layout, in sentences. */
export function reasonsOf(grounds: Grounds): string[] {
  const { style, saved, pages } = grounds;
  const much = saved < 0.01 ? 'less than 1%' : percent(saved);
  const compact = `compact keys save ${much} of the cost of writes and storage`;
  const reasons = [
    ofKey(grounds),
    ...ofShorter(grounds),
    ofCost(grounds),
    style === 'compact'
      ? `Compact keys: they save ${much} of the cost of writes and storage.`
      : `Readable keys: ${compact}, too little to give up readable keys.`,
  ];
  if (pages.readUnits > PARTITION_LIMITS.readUnits) {
    reasons.push(
      `Warning: pages under ${pages.hottest} would be read at ${figure(pages.readUnits)} units per second, more than the ${PARTITION_LIMITS.readUnits} of one partition, until DynamoDB splits it for heat; server caches reduce this.`,
    );
  }
  return reasons;
}
