import { randomUUID } from 'node:crypto';
import type { Redis } from 'ioredis';

import type { Keyspace } from '../keys/keyspace.js';
import type { Log } from '../log.js';
import { loadOptional } from '../optional-package.js';
import { backoffMs } from '../retry.js';
import type { StreamRecord } from '../stream/change.js';
import { isTold } from './change.js';
import type { LiveHub } from './hub.js';

/** The version of a Redis. */
export async function versionOfRedis(url: string): Promise<string> {
  const { Redis: Client } = loadOptional('CELLPORT_REDIS_URL', 'ioredis') as { readonly Redis: typeof Redis };
  const client = new Client(url, { lazyConnect: true, maxRetriesPerRequest: 0, retryStrategy: () => null });
  let fault: unknown;
  client.on('error', (error) => (fault ??= error));
  try {
    await client.connect();
    return /redis_version:(\S+)/.exec(await client.info('server'))?.[1] ?? 'unknown';
  } catch (error) {
    // That the connection is closed is what commands are told.
    throw fault ?? error;
  } finally {
    client.disconnect();
  }
}

/** The message that the server reading the stream sends to all servers, including itself. */
interface Message {
  /** Identifies the sender and its current term; a sender that starts again may have skipped records. */
  readonly from: string;
  /** Number of records sent so far, including this one: a jump shows that some were lost. */
  readonly count: number;
  /** Absent from a heartbeat. */
  readonly record?: StreamRecord;
}

/** The message of a server in a text; undefined if it is of somebody else. */
function messageIn(text: string): Message | undefined {
  try {
    const message = JSON.parse(text) as Partial<Message> | null;
    const isOurs =
      /^[\da-f-]{36}$/.test(message?.from ?? '') && Number.isInteger(message?.count) && message?.record !== null;
    return isOurs ? (message as Message) : undefined;
  } catch {
    return undefined;
  }
}

export interface RelayOptions {
  readonly url: string;
  /** Servers on the same channel receive each other's changes. */
  readonly channel: string;
  readonly keys: Keyspace;
  readonly hub: Pick<LiveHub, 'take' | 'connected' | 'disconnected'>;
  readonly log: Log;
}

const HEARTBEAT_MS = 1_000;
/** If no message arrives for this long, no server is sending. */
const SILENCE_MS = 10_000;
/** Records are dropped while messages of so many characters are unacknowledged, which shows as a jump. */
const MOST_IN_FLIGHT = 16 * 1024 * 1024;

/**
 * Distributes changes among servers through a channel of Redis. Redis stores nothing and does not report dropped messages, so records are counted: when one
 * is missing, or the sender has changed or is silent, the hub is disconnected, because changes may be lost.
 */
export class Relay {
  readonly #options: RelayOptions;
  readonly #publisher: Redis;
  readonly #subscriber: Redis;
  readonly #heartbeat: NodeJS.Timeout;
  readonly #silence: NodeJS.Timeout;
  /** This server's name while it is the sender. */
  #self: string | undefined;
  #count = 0;
  #inFlight = 0;
  /** Number of messages of others. */
  #dropped = 0;
  /** The last message received. */
  #received: Message | undefined;

  constructor(options: RelayOptions) {
    const { url, channel, log } = options;
    const connection = {
      enableOfflineQueue: false,
      maxRetriesPerRequest: null,
      retryStrategy: (times: number) => backoffMs(times),
    };
    this.#options = options;
    const { Redis: Client } = loadOptional('CELLPORT_REDIS_URL', 'ioredis') as { readonly Redis: typeof Redis };
    this.#publisher = new Client(url, connection);
    this.#subscriber = new Client(url, { ...connection, enableOfflineQueue: true });
    for (const client of [this.#publisher, this.#subscriber]) {
      client.on('error', (err) => log.warn({ err }, 'Cannot reach Redis; retrying'));
    }
    this.#subscriber.on('close', () => this.#interrupt('the connection to Redis was lost'));
    this.#subscriber.on('message', (_channel: string, text: string) => this.#receive(text));
    this.#subscriber
      .subscribe(channel)
      .catch((err: unknown) => log.error({ err, channel }, 'Cannot subscribe to the channel in Redis'));
    this.#heartbeat = setInterval(() => this.#publish(), HEARTBEAT_MS);
    this.#silence = setTimeout(() => this.#interrupt('no server is sending changes'), SILENCE_MS);
  }

  #interrupt(reason: string): void {
    if (this.#received !== undefined) this.#options.hub.disconnected(reason);
    this.#received = undefined;
  }

  /** Messages of others on the channel are dropped; one of ours that was lost shows as a jump. */
  #receive(text: string): void {
    const message = messageIn(text);
    if (message !== undefined) {
      this.#take(message);
      return;
    }
    this.#dropped += 1;
    // Not each: others may send thousands.
    if (Number.isInteger(Math.log2(this.#dropped)))
      this.#options.log.warn({ dropped: this.#dropped }, 'Dropping messages in Redis that are not of Cellport');
  }

  #take({ from, count, record }: Message): void {
    const { hub } = this.#options;
    const expected = (this.#received?.count ?? 0) + (record === undefined ? 0 : 1);
    if (this.#received !== undefined && this.#received.from !== from)
      this.#interrupt('another server has started sending');
    if (this.#received !== undefined && count !== expected) this.#interrupt('Redis lost messages');
    if (this.#received === undefined) hub.connected();
    this.#received = { from, count };
    this.#silence.refresh();
    if (record !== undefined) hub.take(record);
  }

  /** Sends a record, or a heartbeat, if this server is the sender. */
  #publish(record?: StreamRecord): void {
    const from = this.#self;
    if (from === undefined) return;
    if (record !== undefined) this.#count += 1;
    if (this.#inFlight >= MOST_IN_FLIGHT) return;
    const message = JSON.stringify({ from, count: this.#count, ...(record && { record }) } satisfies Message);
    this.#inFlight += message.length;
    this.#publisher
      .publish(this.#options.channel, message)
      // All receivers will notice that it is missing.
      .catch((err: unknown) => this.#options.log.debug({ err }, 'Cannot send a change to Redis'))
      .finally(() => {
        this.#inFlight -= message.length;
      });
  }

  /** Sends a record; does nothing before `begin`. */
  send(record: StreamRecord): void {
    const { keys } = this.#options;
    if (this.#self === undefined) return;
    if (isTold(keys, record)) this.#publish(record);
  }

  /** Makes this server the sender, starting with its next record. */
  begin(): void {
    this.#self = randomUUID();
    this.#count = 0;
    this.#publish();
  }

  /** Ends this server's role as sender. */
  end(): void {
    this.#self = undefined;
  }

  close(): void {
    this.#self = undefined;
    clearInterval(this.#heartbeat);
    clearTimeout(this.#silence);
    this.#publisher.disconnect();
    this.#subscriber.disconnect();
  }
}
