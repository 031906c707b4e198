import { systemClock } from '../clock.js';
import { backoffMs } from '../retry.js';
import { CHANGES_SUBSCRIPTION } from './documents.js';
import type { ClientChangesSubscription } from './generated.js';
import type { ServerOptions, ViewportOptions } from './options.js';
import { codeOf, errorOf, headersOf, isRefusal, RETRIES, ViewportError, type GraphqlResponse } from './request.js';
import type { Bounds } from './tiles.js';

export type MarkerChange = ClientChangesSubscription['markerChanged'];

/** Who is told what a feed receives. */
export interface ChangeListener {
  readonly onChange: (change: MarkerChange) => void;
  /** Called when a connection is up, with the time in ms since 1970 from which no change is missing. */
  readonly onConnect: (completeFrom: number) => void;
  /**
   * Called when a connection or a subscription ends, with its error if known: the feed connects again unless closed. The
   * error of a refusal is passed on once the next connection is refused, too.
   */
  readonly onFailure: (error: ViewportError | null) => void;
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

async function greet(socket: WebSocket, headers: ServerOptions['headers'], isRefused: boolean): Promise<void> {
  try {
    socket.send(JSON.stringify({ type: 'connection_init', payload: await headersOf(headers, isRefused) }));
  } catch {
    // Requests report why there are no headers.
    socket.close();
  }
}

/** Close codes of graphql-ws are those of HTTP plus 4000. */
const failureIn = ({ code, reason }: { readonly code: number; readonly reason: string }) =>
  new ViewportError(reason || 'the server does not send changes', codeOf(code - 4_000));

/**
 * Changes to the markers of a collection inside a bounding box, as they happen, over a WebSocket with the
 * graphql-transport-ws protocol. Server-sent events would be simpler, but a browser opens at most six connections per host,
 * and a map has one layer per collection.
 */
export class ChangeFeed {
  readonly #options: ViewportOptions;
  readonly #listener: ChangeListener;
  #socket: WebSocket | undefined;
  #isOpen = false;
  #watched: Bounds | undefined;
  #subscription = 0;
  #failures = 0;
  /** Whether a connection was refused or ended by the rules, and none has been up since. */
  #isRefused = false;
  /** Not in wall-clock time, which may be set: too late a moment would skip changes. */
  #openedAt = 0;
  #changesFrom = Number.NaN;
  #retry: ReturnType<typeof setTimeout> | undefined;
  #waiting: (() => void)[] = [];

  constructor(options: ViewportOptions, listener: ChangeListener) {
    this.#options = options;
    this.#listener = listener;
  }

  /**
   * Follows these bounds instead of the previous ones. Resolves once subscribed, or when connecting has failed for now.
   */
  watch(bounds: Bounds): Promise<void> {
    this.#watched = bounds;
    const settled = new Promise<void>((resolve) => this.#waiting.push(resolve));
    if (this.#isOpen) this.#subscribe();
    else if (!this.#socket) this.#connect();
    return settled;
  }

  close(): void {
    clearTimeout(this.#retry);
    const closing = this.#socket;
    this.#socket = undefined;
    closing?.close();
    this.#settle();
  }

  #connect(): void {
    const opened = new WebSocket(socketAddress(this.#options.url), 'graphql-transport-ws');
    this.#socket = opened;
    const { headers } = this.#options;
    opened.onopen = () => void greet(opened, headers, this.#isRefused);
    opened.onmessage = ({ data }) => this.#receive(JSON.parse(String(data)) as Message);
    opened.onclose = (event) => {
      this.#settle();
      if (this.#socket !== opened) return;
      const error = failureIn(event);
      // Other headers may be accepted, and the same under other rules.
      const isWorthAnother = error.code === 'FORBIDDEN' || typeof headers === 'function';
      const isNews = isRefusal(error) && isWorthAnother && !this.#isRefused;
      this.#isRefused ||= isNews;
      this.#listener.onFailure(isNews ? null : error);
      if (this.#socket !== opened) return;
      // A connection that drops soon after it opens counts as a failed attempt.
      if (this.#isOpen && systemClock.now() - this.#openedAt > RETRIES.longestMs) this.#failures = 0;
      this.#isOpen = false;
      this.#retry = setTimeout(() => this.#connect(), backoffMs(this.#failures++, RETRIES));
    };
  }

  #receive(message: Message): void {
    if (message.type === 'next' && message.payload.data) this.#listener.onChange(message.payload.data.markerChanged);
    else if (message.type === 'ping') this.#send({ type: 'pong' });
    else if (message.type === 'connection_ack') {
      this.#isOpen = true;
      this.#openedAt = systemClock.now();
      this.#changesFrom = Date.parse(message.payload?.changesFrom ?? '');
      // Both by the server's clock, which may differ from this one.
      const age = Date.parse(message.payload?.now ?? '') - this.#changesFrom;
      this.#subscription = 0;
      this.#subscribe();
      // Under other rules, all of it may be different.
      this.#listener.onConnect(this.#isRefused ? Infinity : systemClock.wall() - (age || 0));
      this.#isRefused = false;
    } else if ((message.type === 'error' || message.type === 'complete') && message.id === String(this.#subscription)) {
      this.#listener.onFailure(errorOf(message.payload, 'UNAVAILABLE'));
      // The server currently cannot deliver all changes: another server took over, or records were lost. Reconnect.
      this.#socket?.close();
    }
  }

  #subscribe(): void {
    const previous = this.#subscription++;
    // Recent changes may already have been emitted without being included in the counts of a response.
    const since = this.#changesFrom + systemClock.now() - this.#openedAt;
    const { collection } = this.#options;
    this.#send({
      id: String(this.#subscription),
      type: 'subscribe',
      payload: {
        query: CHANGES_SUBSCRIPTION,
        variables: { collection, bounds: this.#watched, ...(since && { since: new Date(since).toISOString() }) },
      },
    });
    // After the new one has started: both briefly emit the same changes, which is harmless.
    if (previous > 0) this.#send({ id: String(previous), type: 'complete' });
    this.#settle();
  }

  #send(message: object): void {
    this.#socket?.send(JSON.stringify(message));
  }

  #settle(): void {
    for (const resolve of this.#waiting) resolve();
    this.#waiting = [];
  }
}
