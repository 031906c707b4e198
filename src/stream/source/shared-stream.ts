import type { Clock } from '../../clock.js';
import type { RecordBatch, StreamPort } from '../ports.js';

/** Shorter than the time between two reads of one reader, which so get different answers. */
const SHARED_MS = 450;

/** Where one reader continues: written as its iterator. */
interface Cursor {
  readonly shard: string;
  /** The sequence number of the last record read, 0 at the beginning; empty if others may be elsewhere. */
  readonly position: string;
  /** The last answer that it got. */
  readonly seen: number;
  readonly iterator: string;
}

interface Answer {
  readonly number: number;
  readonly position: string;
  readonly begunAt: number;
  readonly batch: Promise<RecordBatch>;
}

/**
 * A stream for several readers in this process, which DynamoDB counts as one as long as they are at the same record: an
 * answer is given to all that ask for it within half a second. No reader gets an answer twice, as several empty ones tell
 * that a shard has no more records; and each says when it was asked for.
 */
export function sharedStream(port: StreamPort, clock: Pick<Clock, 'now'>): StreamPort {
  const latest = new Map<string, Answer>();
  let answers = 0;

  function ask({ shard, position, iterator }: Cursor): Answer {
    const answer = { number: ++answers, position, begunAt: clock.now(), batch: port.readRecords(iterator) };
    // Those who are behind read alone until they catch up.
    if (position === '' || BigInt(position) < BigInt(latest.get(shard)?.position ?? 0)) return answer;
    latest.set(shard, answer);
    const forget = () => {
      if (latest.get(shard) === answer) latest.delete(shard);
    };
    setTimeout(forget, SHARED_MS).unref();
    answer.batch.catch(forget);
    return answer;
  }

  return {
    ...port,
    async openShard(stream, shard, start) {
      const position = start.type === 'after' ? start.sequence : start.type === 'oldest' ? '0' : '';
      const iterator = await port.openShard(stream, shard, start);
      return JSON.stringify({ shard: `${stream} ${shard}`, position, seen: 0, iterator } satisfies Cursor);
    },
    async readRecords(written) {
      const cursor = JSON.parse(written) as Cursor;
      const { shard, position, seen } = cursor;
      const known = latest.get(shard);
      const answer = known && known.position === position && known.number !== seen ? known : ask(cursor);
      const { records, next } = await answer.batch;
      const at: Omit<Cursor, 'iterator'> = {
        shard,
        position: records.at(-1)?.sequence ?? position,
        seen: answer.number,
      };
      return {
        records,
        next: next === undefined ? undefined : JSON.stringify({ ...at, iterator: next } satisfies Cursor),
        begunAt: answer.begunAt,
      };
    },
  };
}
