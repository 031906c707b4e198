import { isDeepStrictEqual } from 'node:util';

import { REQUEST_LIMITS } from '../../model/dynamodb-limits.js';
import { compareNewest } from '../../sources/marker.js';
import { chunks, mapConcurrently, processAll } from '../../store/request/pacing.js';
import type { Contender, Ranking, Winner } from '../../store/source/winners.js';
import { isAfter, type Contention, type StreamRecord, type WireImage } from '../change.js';
import type { LeasedWork, WinnersPort } from '../ports.js';

export const NO_CONTENDER: Ranking = { best: [], others: null };
/** The second one is the marker once the first is deleted: one of the two is an item that is moving to another key. */
const MOST_KEPT = 2;
const CHUNKS_AT_A_TIME = 4;
const ASKED_AT_A_TIME = 16;

/** Of two that are equal, a rejected one is worse. */
const compared = (a: Contender, b: Contender) =>
  compareNewest(a.order, b.order) || Number(a.image !== undefined) - Number(b.image !== undefined);

/** A ranking after a change of one item, undefined if it contends no more. Of those that are equal, the first stays so, or the new one is. */
export function ranked({ best, others }: Ranking, item: string, after: Contender | undefined, first = false): Ranking {
  const at = best.findIndex((one) => one.item === item);
  const known = best[at];
  if (known && after && compared(known, after) === 0) return { best: best.with(at, after), others };
  const rest = best.filter((one) => one !== known);
  if (after === undefined) return { best: rest, others };
  const place = rest.findIndex((one) => compared(after, one) > (first ? -1 : 0));
  const all = rest.toSpliced(place < 0 ? rest.length : place, 0, after);
  const cut = all[MOST_KEPT];
  const isGreatest = cut !== undefined && (others === null || compareNewest(cut.order, others) > 0);
  return { best: all.slice(0, MOST_KEPT), others: isGreatest ? cut.order : others };
}

/** A ranking with its winner: if a contender that is not in it may be better, the table is asked. */
export async function completed(port: WinnersPort, key: string, ranking: Ranking): Promise<Ranking> {
  const { best, others } = ranking;
  const isKnown = others === null || (best[0] !== undefined && compareNewest(best[0].order, others) >= 0);
  return (isKnown ? undefined : await port.ask(key)) ?? ranking;
}

const imageIn = (winner: Winner | undefined) => winner?.ranking.best[0]?.image;

/**
 * Brings the contenders for keys to a batch, and returns them. They name the last batch that changed them and the winner
 * before it, and are written only if they have not changed since they were read: so whoever applies the batch again gets
 * the same, although the table, which is asked where a winner is gone and others may be better, has changed since.
 */
export async function decideWinners(
  port: WinnersPort,
  { clock, signal, log, holds }: LeasedWork,
  batch: number,
  keys: readonly string[],
  propose: (key: string, found: Winner | undefined) => Pick<Winner, 'ranking' | 'sequence'>,
): Promise<Map<string, Winner>> {
  const decided = new Map<string, Winner>();
  async function decide(key: string, found: Winner | undefined): Promise<Winner> {
    const before = imageIn(found);
    if (found && found.batch >= batch) return found.batch === batch ? found : { ...found, before };
    const proposed = propose(key, found);
    return { ...proposed, batch, before, ranking: await completed(port, key, proposed.ranking) };
  }
  async function decideSome(left: readonly string[]): Promise<readonly string[]> {
    signal.throwIfAborted();
    const stored = await port.read(left);
    const next = await mapConcurrently(left, ASKED_AT_A_TIME, async (key, index) => {
      return { key, seen: stored[index]?.batch, next: await decide(key, stored[index]) };
    });
    const isOpen = ({ next: { ranking } }: (typeof next)[number], index: number) =>
      !isDeepStrictEqual(ranking, stored[index]?.ranking ?? NO_CONTENDER);
    const open = next.filter(isOpen);
    const written = open.length > 0 && holds() ? await port.write(open) : [];
    const refused = new Set(open.filter((_, index) => written[index] !== true));
    for (const one of next) if (!refused.has(one)) decided.set(one.key, one.next);
    return Array.from(refused, ({ key }) => key);
  }
  const onRetry = (err: unknown) => log.warn({ err, batch }, 'Cannot store which items are markers; retrying');
  await mapConcurrently(chunks(keys, REQUEST_LIMITS.batchGet), CHUNKS_AT_A_TIME, (chunk) =>
    processAll(chunk, decideSome, { attempts: Infinity, retryable: () => true, onRetry, clock, signal }),
  );
  return decided;
}

/** The record of a marker whose winner has changed; undefined if it is drawn as before. */
export function recordOf(winner: Omit<Winner, 'batch'>, at: number): StreamRecord | undefined {
  const { before, sequence, ranking } = winner;
  const after = ranking.best[0]?.image;
  if (before === after) return undefined;
  const [old, image] = [before, after].map((text) => (JSON.parse(text ?? 'null') as WireImage | null) ?? undefined);
  const { pk, sk } = image ?? old ?? {};
  const event = old === undefined ? 'INSERT' : image === undefined ? 'REMOVE' : 'MODIFY';
  return { sequence, event, at, keys: { pk, sk }, before: old, after: image };
}

/** The records of markers that follow from those of items. Resolves once the winners of the batch are stored. */
export async function decidedRecords(
  port: WinnersPort,
  work: LeasedWork,
  batch: number,
  contentions: readonly Contention[],
): Promise<StreamRecord[]> {
  const byKey = new Map<string, { readonly changes: Contention[]; last: Contention }>();
  for (const one of contentions) {
    const known = byKey.get(one.key) ?? { changes: [], last: one };
    known.changes.push(one);
    if (isAfter(one.sequence, known.last.sequence)) known.last = one;
    byKey.set(one.key, known);
  }
  const winners = await decideWinners(port, work, batch, [...byKey.keys()], (key, found) => {
    const { changes = [], last } = byKey.get(key) ?? {};
    const later = String(BigInt(found?.sequence ?? 0) + 1n);
    const sequence = last && isAfter(last.sequence, later) ? last.sequence : later;
    const ranking = changes.reduce((now, { item, after }) => ranked(now, item, after), found?.ranking ?? NO_CONTENDER);
    return { sequence, ranking };
  });
  return [...winners].flatMap(([key, winner]) => recordOf(winner, byKey.get(key)?.last.at ?? 0) ?? []);
}
