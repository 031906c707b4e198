import { randomUUID } from 'node:crypto';
import { Redis } from 'ioredis';

import type { Keyspace } from '../keys/keyspace.js';
import type { Log } from '../log.js';
import type { StreamRecord } from '../stream/change.js';
import { eventOf } from './change.js';
import type { LiveHub } from './hub.js';

/** What the one server that reads the stream sends to all, itself included. */
interface Message {
  /** Names the sender since it last began; whoever begins anew may have left something out. */
  readonly from: string;
  /** How many records it has sent by now, this one included: a jump means that some were lost on the way. */
  readonly count: number;
  /** Left out in a sign of life. */
  readonly record?: StreamRecord;
}

/** Changes between servers by way of Redis. */
export interface Relay {
  /** Sends a record; nothing is sent before `begin`. */
  send(record: StreamRecord): void;
  /** Makes this server the sender, from its next record on. */
  begin(): void;
  end(): void;
  close(): void;
}

export interface RelayOptions {
  readonly url: string;
  /** Servers on one channel hear each other. */
  readonly channel: string;
  readonly keys: Keyspace;
  readonly hub: Pick<LiveHub, 'take' | 'hearing' | 'lost'>;
  readonly log: Log;
}

const BEAT_EVERY_MS = 1_000;
/** A sender is heard of this often, or something is wrong. */
const HEARD_WITHIN_MS = 10_000;
/** What Redis has not taken by then is left out, and shows as a jump. */
const MOST_UNDER_WAY = 20_000;
const LONGEST_PAUSE_MS = 2_000;

/**
 * Takes part in a channel of Redis. Redis keeps nothing and says nothing of what it drops, so records are counted: where
 * one is missing, the sender is another one, or nobody is heard, the hub is told that something may be lost.
 */
export function openRelay({ url, channel, keys, hub, log }: RelayOptions): Relay {
  const options = {
    enableOfflineQueue: false,
    maxRetriesPerRequest: null,
    retryStrategy: (times: number) => Math.min(LONGEST_PAUSE_MS, 50 * 2 ** times),
  };
  const sending = new Redis(url, options);
  const hearing = new Redis(url, { ...options, enableOfflineQueue: true });
  let self: string | undefined;
  let count = 0;
  let underWay = 0;
  let heard: Pick<Message, 'from' | 'count'> | undefined;

  function deaf(reason: string): void {
    if (heard !== undefined) hub.lost(reason);
    heard = undefined;
  }

  const silence = setTimeout(() => deaf('no server sends changes'), HEARD_WITHIN_MS);

  function take({ from, count: now, record }: Message): void {
    const expected = (heard?.count ?? 0) + (record === undefined ? 0 : 1);
    if (heard !== undefined && heard.from !== from) deaf('another server reads the stream now');
    if (heard !== undefined && now !== expected) deaf('messages of Redis were lost');
    if (heard === undefined) hub.hearing();
    heard = { from, count: now };
    silence.refresh();
    if (record !== undefined) hub.take(record);
  }

  function publish(message: Message): void {
    if (underWay >= MOST_UNDER_WAY) return;
    underWay += 1;
    sending
      .publish(channel, JSON.stringify(message))
      // All who hear will notice that it is missing.
      .catch((err: unknown) => log.debug({ err }, 'a change could not be sent by way of Redis'))
      .finally(() => {
        underWay -= 1;
      });
  }

  const beating = setInterval(() => {
    if (self !== undefined) publish({ from: self, count });
  }, BEAT_EVERY_MS);

  for (const client of [sending, hearing]) {
    client.on('error', (err) => log.warn({ err }, 'Redis cannot be reached; trying again'));
  }
  hearing.on('close', () => deaf('the connection to Redis was lost'));
  hearing.on('message', (_channel: string, text: string) => {
    try {
      take(JSON.parse(text) as Message);
    } catch (err) {
      log.error({ err }, 'a message of Redis could not be understood');
      deaf('a message of Redis could not be understood');
    }
  });
  hearing.subscribe(channel).catch((err: unknown) => log.error({ err }, 'changes cannot be heard from Redis'));

  return {
    send(record) {
      if (self === undefined || eventOf(keys, record) === undefined) return;
      count += 1;
      publish({ from: self, count, record });
    },
    begin() {
      self = randomUUID();
      count = 0;
      publish({ from: self, count });
    },
    end() {
      self = undefined;
    },
    close() {
      self = undefined;
      clearInterval(beating);
      clearTimeout(silence);
      sending.disconnect();
      hearing.disconnect();
    },
  };
}
