import { systemClock } from '../clock.js';
import { backoffMs } from '../retry.js';
import { CHANGES_SUBSCRIPTION } from './documents.js';
import type { ClientChangesSubscription } from './generated.js';
import type { ViewportOptions } from './options.js';
import { type GraphqlResponse, ViewportError, codeOf, errorOf, headersOf } from './request.js';
import type { Bounds } from './tiles.js';

const RECONNECT = { firstMs: 1_000, longestMs: 30_000 };

export type MarkerChange = ClientChangesSubscription['markerChanged'];

export interface ChangeFeedOptions {
  /** URL of /graphql. */
  readonly url: string;
  readonly collection: string;
  readonly headers: ViewportOptions['headers'];
  readonly onChange: (change: MarkerChange) => void;
  /** Called when a connection is up, with the time in ms since which no change is missing. */
  readonly onConnect: (completeFrom: number) => void;
  /** Called when a connection or a subscription ends, with its error if known: the feed connects again unless closed. */
  readonly onFailure: (error: ViewportError | null) => void;
}

/** Changes to the markers inside a bounding box, as they happen. */
export interface ChangeFeed {
  /**
   * Follows these bounds instead of the previous ones. Resolves once subscribed, or when connecting has failed for now.
   */
  watch(bounds: Bounds): Promise<void>;
  close(): void;
}

type Message =
  | { readonly type: 'connection_ack'; readonly payload?: { readonly changesFrom?: string; readonly now?: string } }
  | { readonly type: 'ping' }
  | { readonly type: 'next'; readonly payload: { readonly data?: { readonly markerChanged: MarkerChange } | null } }
  | { readonly type: 'error' | 'complete'; readonly id: string; readonly payload?: GraphqlResponse['errors'] };

function socketAddress(url: string): URL {
  const address = new URL(url, (globalThis as { location?: { readonly href: string } }).location?.href);
  address.protocol = address.protocol.replace('http', 'ws');
  return address;
}

async function greet(socket: WebSocket, headers: ViewportOptions['headers']): Promise<void> {
  try {
    socket.send(JSON.stringify({ type: 'connection_init', payload: await headersOf(headers) }));
  } catch {
    // Requests report why there are no headers.
    socket.close();
  }
}

/** Close codes of graphql-ws are those of HTTP plus 4000. */
const failureIn = ({ code, reason }: { readonly code: number; readonly reason: string }) =>
  new ViewportError(reason || 'the server does not send changes', codeOf(code - 4_000));

/**
 * Follows changes over a WebSocket with the graphql-transport-ws protocol. Server-sent events would be simpler, but a
 * browser opens at most six connections per host, and a map has one layer per collection.
 */
export function createChangeFeed(options: ChangeFeedOptions): ChangeFeed {
  const { collection, onChange, onConnect, onFailure } = options;
  const address = socketAddress(options.url);
  let socket: WebSocket | undefined;
  let isOpen = false;
  let watched: Bounds | undefined;
  let subscription = 0;
  let failures = 0;
  /** Not in wall-clock time, which may be set: too late a moment would skip changes. */
  let openedAt = 0;
  let changesFrom = Number.NaN;
  let retry: ReturnType<typeof setTimeout> | undefined;
  let waiting: (() => void)[] = [];

  const settle = () => {
    for (const resolve of waiting) resolve();
    waiting = [];
  };

  const send = (message: object) => socket?.send(JSON.stringify(message));

  const subscribe = () => {
    const previous = subscription++;
    // Recent changes may already have been emitted without being included in the counts of a response.
    const since = changesFrom + systemClock.now() - openedAt;
    send({
      id: String(subscription),
      type: 'subscribe',
      payload: {
        query: CHANGES_SUBSCRIPTION,
        variables: { collection, bounds: watched, ...(since && { since: new Date(since).toISOString() }) },
      },
    });
    // After the new one has started: both briefly emit the same changes, which is harmless.
    if (previous > 0) send({ id: String(previous), type: 'complete' });
    settle();
  };

  const receive = (message: Message) => {
    if (message.type === 'next' && message.payload.data) onChange(message.payload.data.markerChanged);
    else if (message.type === 'ping') send({ type: 'pong' });
    else if (message.type === 'connection_ack') {
      isOpen = true;
      openedAt = systemClock.now();
      changesFrom = Date.parse(message.payload?.changesFrom ?? '');
      // Both by the server's clock, which may differ from this one.
      const age = Date.parse(message.payload?.now ?? '') - changesFrom;
      subscription = 0;
      subscribe();
      onConnect(openedAt - (age || 0));
    } else if ((message.type === 'error' || message.type === 'complete') && message.id === String(subscription)) {
      onFailure(errorOf(message.payload, 'UNAVAILABLE'));
      // The server currently cannot deliver all changes: another server took over, or records were lost. Reconnect.
      socket?.close();
    }
  };

  const connect = () => {
    const opened = new WebSocket(address, 'graphql-transport-ws');
    socket = opened;
    opened.onopen = () => void greet(opened, options.headers);
    opened.onmessage = ({ data }) => receive(JSON.parse(String(data)) as Message);
    opened.onclose = (event) => {
      settle();
      if (socket === opened) onFailure(failureIn(event));
      if (socket !== opened) return;
      // A connection that drops soon after it opens counts as a failed attempt.
      if (isOpen && systemClock.now() - openedAt > RECONNECT.longestMs) failures = 0;
      isOpen = false;
      retry = setTimeout(connect, backoffMs(failures++, RECONNECT));
    };
  };

  return {
    watch(bounds) {
      watched = bounds;
      const settled = new Promise<void>((resolve) => waiting.push(resolve));
      if (isOpen) subscribe();
      else if (!socket) connect();
      return settled;
    },
    close() {
      clearTimeout(retry);
      const closing = socket;
      socket = undefined;
      closing?.close();
      settle();
    },
  };
}
