import { setTimeout as sleep } from 'node:timers/promises';
import { WebSocket } from 'ws';

import { idOf, type Collection, type Run } from './clients.js';
import type { FleetServer } from './fleet-server.js';
import { WORLD } from './model.js';
import { readBox } from './readers.js';

const OVERLAP_MS = 60_000;
const SUBSCRIPTION = `subscription ($collection: String!, $since: DateTime) {
  markerChanged(collection: $collection, since: $since) { at id sequence marker { properties } } }`;

interface Change {
  readonly at: string;
  readonly id: string;
  readonly sequence: string;
  readonly marker: { readonly properties: { readonly v: number } } | null;
}

interface Message {
  readonly type: string;
  readonly payload?: readonly { readonly extensions?: { readonly code?: string } }[] & {
    readonly changesFrom?: string;
    readonly data?: { readonly markerChanged: Change };
  };
}

interface Known {
  readonly sequence: string;
  readonly value: number | undefined;
}

/** What a subscriber knows who follows a collection as docs/consistency.md says, across every fault. */
export class Replica {
  /** By ID; undefined if the marker was deleted. */
  #known = new Map<string, Known>();
  #at = 0;

  readonly run: Run;
  readonly server: FleetServer;
  readonly collection: Collection;

  constructor(run: Run, server: FleetServer, collection: Collection) {
    this.run = run;
    this.server = server;
    this.collection = collection;
  }

  get values(): ReadonlyMap<string, number> {
    const prefix = `marker::${this.collection}::`;
    const there = [...this.#known].flatMap(([id, { value }]) =>
      value === undefined ? [] : [[id.slice(prefix.length), value] as const],
    );
    return new Map(there);
  }

  /** What it knows of a marker. */
  told(key: string): string {
    const known = this.#known.get(idOf(this.collection, key));
    return known ? `told ${known.value} at ${known.sequence || 'the load'}` : 'never told';
  }

  /** Follows until it is aborted, and subscribes again when a subscription ends. */
  async follow(signal: AbortSignal): Promise<void> {
    for (let loads = true; !signal.aborted;) {
      const { url } = this.server;
      const code: string = url === undefined ? 'down' : await this.#subscribe(url, loads, signal);
      loads = code === 'BAD_USER_INPUT' || code === 'not loaded' || (loads && code === 'down');
      if (code !== 'down') this.run.count(`subscription ended: ${code}`);
      await sleep(200);
    }
  }

  /** Follows until the subscription ends, and tells how. With `loads`, it begins with the map. */
  #subscribe(url: string, loads: boolean, signal: AbortSignal): Promise<string> {
    return new Promise((resolve) => {
      const socket = new WebSocket(`${url.replace('http', 'ws')}/graphql`, 'graphql-transport-ws');
      let isLoaded = !loads;
      const end = (code: string) => {
        socket.terminate();
        resolve(isLoaded || code === 'BAD_USER_INPUT' ? code : 'not loaded');
      };
      signal.addEventListener('abort', () => end('stopped'), { once: true });
      socket.on('error', () => end('broken')).on('close', () => end('broken'));
      socket.on('open', () => socket.send('{"type":"connection_init"}'));
      socket.on('message', (data: Buffer) => {
        const { type, payload } = JSON.parse(data.toString()) as Message;
        if (type === 'next' && payload?.data) this.#apply(payload.data.markerChanged);
        else if (type === 'error' || type === 'complete') end(payload?.[0]?.extensions?.code ?? type);
        if (type !== 'connection_ack') return;
        // Maps are too far behind, or changes do not arrive.
        if (loads && payload?.changesFrom === undefined) return end('not loaded');
        const since = loads ? payload?.changesFrom : new Date(this.#at - OVERLAP_MS).toISOString();
        const variables = { collection: this.collection, since };
        socket.send(JSON.stringify({ id: '1', type: 'subscribe', payload: { query: SUBSCRIPTION, variables } }));
        if (!loads) return;
        // A load for an earlier subscription may still be under way.
        const known = (this.#known = new Map<string, Known>());
        this.#at = Date.parse(payload?.changesFrom ?? '');
        this.#load(url, known).then(
          () => (isLoaded = true),
          () => end('not loaded'),
        );
      });
    });
  }

  /** Changes that arrive meanwhile are newer. */
  async #load(url: string, known: Map<string, Known>): Promise<void> {
    for (const [key, value] of await readBox(url, this.collection, WORLD)) {
      const id = idOf(this.collection, key);
      if (!known.has(id)) known.set(id, { sequence: '', value });
    }
  }

  #apply({ at, id, sequence, marker }: Change): void {
    this.#at = Math.max(this.#at, Date.parse(at));
    if ((this.#known.get(id)?.sequence ?? '') >= sequence) return;
    this.#known.set(id, { sequence, value: marker?.properties.v });
    this.run.count('live changes');
  }
}
