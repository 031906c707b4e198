import { Agent } from 'node:http';

import { post } from '../http/load.js';
import type { View } from '../rig/places.js';
import { MOST, saidOf, type Kind, type PeerMarker, type Said } from './question.js';

const MARKER = 'key name category position { lng lat }';
const FIELDS: Readonly<Record<Kind, string>> = {
  markers: `markers(collection: "cities", first: ${MOST.markers}) { nodes { ${MARKER} } }`,
  auto: `auto(collection: "cities", limit: ${MOST.auto}) { mode total markers { ${MARKER} } clusters { position { lng lat } count } }`,
  count: 'count(collection: "cities")',
};

interface Answer {
  readonly data: {
    readonly viewport: {
      readonly markers?: { readonly nodes: readonly PeerMarker[] };
      readonly auto?: { readonly mode: string; readonly total: number; readonly markers: readonly PeerMarker[] };
      readonly count?: number;
    };
  };
}

/** The body of a request. */
export function bodyOf(kind: Kind, { bounds, zoom }: View): string {
  return JSON.stringify({
    query: `query ($bounds: BoundsInput!, $zoom: Float!) { viewport(bounds: $bounds, zoom: $zoom) { ${FIELDS[kind]} } }`,
    variables: { bounds, zoom },
  });
}

/** What a response says. */
export function read(kind: Kind, text: string): Said {
  const { markers, auto, count } = (JSON.parse(text) as Answer).data.viewport;
  if (markers) return saidOf(markers.nodes, MOST[kind]);
  if (auto) return auto.mode === 'MARKERS' ? saidOf(auto.markers, Infinity) : { count: auto.total };
  return { count: count ?? 0 };
}

const READY = `{ collection(key: "cities") { count countsExact }
  viewport(bounds: { west: 0, south: 40, east: 10, north: 50 }, zoom: 6) { plan(collection: "cities") { source } } }`;

interface Ready {
  readonly collection: { readonly count: number; readonly countsExact: boolean } | null;
  readonly viewport: { readonly plan: { readonly source: string } };
}

/** Whether a server has counted all of these markers, and reads them from pages. */
export async function isReady(url: string, markers: number): Promise<boolean> {
  const { text } = await post(new Agent(), url, JSON.stringify({ query: READY }));
  const { collection, viewport } = (JSON.parse(String(text)) as { readonly data: Ready }).data;
  return collection?.count === markers && collection.countsExact && viewport.plan.source === 'PAGES';
}

/** Returns a function that sends one question and resolves to the response's text. */
export function asking(url: string, connections: number) {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  return {
    ask: async (kind: Kind, view: View): Promise<Buffer> => {
      const { status, text } = await post(agent, url, bodyOf(kind, view));
      if (status !== 200) throw new Error(`${url} responded with status ${status}: ${String(text)}`);
      return text;
    },
    close: () => agent.destroy(),
  };
}
