import { CHANGES, MARKER } from './documents.js';
import type { Change } from './regions.js';
import type { Bounds } from './tiles.js';

/** Waits between attempts to connect, doubled each time, in ms. */
const FIRST_WAIT = 1_000;
const LONGEST_WAIT = 30_000;

export interface LiveOptions {
  /** Of /graphql. */
  readonly url: string;
  readonly collection: string;
  readonly onChange: (change: Change) => void;
  /** Changes are told from now on: what was asked for before may lack some. */
  readonly onFollow: () => void;
}

/** Changes of a rectangle, told as they happen. */
export interface Live {
  /** Follows this rectangle instead of the one before. Resolves when it does, or when it cannot for now. */
  watch(bounds: Bounds): Promise<void>;
  close(): void;
}

type Message =
  | { readonly type: 'connection_ack'; readonly payload?: { readonly changesFrom?: string } }
  | { readonly type: 'ping' }
  | { readonly type: 'next'; readonly payload: { readonly data?: { readonly markerChanged: Change } | null } }
  | { readonly type: 'error' | 'complete'; readonly id: string };

/**
 * Follows changes over one WebSocket, in the protocol graphql-transport-ws. Server-sent events would need no protocol, but
 * browsers open six connections to a host at most, and a map has a layer for each collection.
 */
export function createLive({ url, collection, onChange, onFollow }: LiveOptions): Live {
  const address = new URL(url, (globalThis as { location?: { readonly href: string } }).location?.href);
  address.protocol = address.protocol.replace('http', 'ws');
  let socket: WebSocket | undefined;
  let isOpen = false;
  let watched: Bounds | undefined;
  let subscription = 0;
  let wait = FIRST_WAIT;
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
    const before = subscription++;
    // What changed lately may be told already, and not yet be in the counts that an answer is made of.
    const since = changesFrom + Date.now() - openedAt;
    send({
      id: String(subscription),
      type: 'subscribe',
      payload: {
        query: CHANGES + MARKER,
        variables: { collection, bounds: watched, ...(since && { since: new Date(since).toISOString() }) },
      },
    });
    // Only now: both tell of the same changes for a moment, which harms nothing.
    if (before > 0) send({ id: String(before), type: 'complete' });
    settle();
  };

  const receive = (message: Message) => {
    if (message.type === 'next' && message.payload.data) onChange(message.payload.data.markerChanged);
    else if (message.type === 'ping') send({ type: 'pong' });
    else if (message.type === 'connection_ack') {
      isOpen = true;
      openedAt = Date.now();
      changesFrom = Date.parse(message.payload?.changesFrom ?? '');
      subscription = 0;
      subscribe();
      onFollow();
    } else if ((message.type === 'error' || message.type === 'complete') && message.id === String(subscription)) {
      // The server cannot tell all for now: another server took over, records were lost. Begin anew.
      socket?.close();
    }
  };

  const connect = () => {
    const opened = new WebSocket(address, 'graphql-transport-ws');
    socket = opened;
    opened.onopen = () => send({ type: 'connection_init' });
    opened.onmessage = ({ data }) => receive(JSON.parse(String(data)) as Message);
    opened.onclose = () => {
      settle();
      if (socket !== opened) return;
      // What ends as soon as it is open is no better than what does not open.
      if (isOpen && Date.now() - openedAt > LONGEST_WAIT) wait = FIRST_WAIT;
      isOpen = false;
      retry = setTimeout(connect, wait);
      wait = Math.min(2 * wait, LONGEST_WAIT);
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
