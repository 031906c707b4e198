import { setTimeout as sleep } from 'node:timers/promises';

import type { Collection } from '../../src/model/collection.js';
import type { SearchQuery } from '../../src/search/engine.js';
import type { ServerSearch } from '../../src/server/search.js';
import { newCall, type Database } from '../../src/store/database.js';
import { createMarker } from '../../src/store/marker/markers.js';
import { KINDS, type Kind, type Questions } from './questions.js';

const FIRST = 10;
const POLL_MS = 50;
/** Between two writes. */
const APART_MS = 40;
const LOOK_MS = 5;

/** What is measured. */
export interface Plan {
  readonly db: Database;
  readonly collection: Collection;
  readonly questions: Questions;
  /** A word that no city has, nor what was written for another plan. */
  readonly word: string;
  readonly writes: number;
}

/** What was measured of one engine. */
export interface Measured {
  readonly documentsPerSecond: number;
  /** Milliseconds of each question. */
  readonly took: Readonly<Record<Kind, readonly number[]>>;
  /** The keys found for each question with a typo. */
  readonly typoKeys: readonly (readonly string[])[];
  /** Milliseconds from the response to a write until it is found. */
  readonly delays: readonly number[];
}

/** Follows the table from nothing. Resolves to the documents indexed per second. */
async function backfill(search: ServerSearch): Promise<number> {
  const begun = performance.now();
  search.start();
  while (search.status.state !== 'following') {
    if (search.status.state === 'failed') throw new Error(search.status.reason ?? 'search has failed');
    await sleep(POLL_MS);
  }
  return (search.status.read * 1_000) / (performance.now() - begun);
}

/** Creates markers one after the other, and looks for all of them as often as a server answers. */
async function measureDelays(search: ServerSearch, { db, collection, word, writes }: Plan) {
  const query: SearchQuery = { words: [word], scopes: undefined, area: undefined, near: undefined };
  const writtenAt = new Map<string, number>();
  const delays: number[] = [];
  const write = async () => {
    for (let n = 0; n < writes; n++) {
      const position = { lng: n / 10, lat: 50 };
      const key = `${word}${n}`;
      await createMarker(newCall(db), collection, { key, name: word, position }, new Date().toISOString());
      writtenAt.set(key, performance.now());
      await sleep(APART_MS);
    }
  };
  const look = async () => {
    while (delays.length < writes) {
      const hits = await search.open().search(query, { after: undefined, limit: writes });
      const now = performance.now();
      for (const { key } of hits) {
        const name = db.keys.parseMarker(key)?.key ?? '';
        const at = writtenAt.get(name);
        if (at !== undefined) delays.push(now - at);
        writtenAt.delete(name);
      }
      await sleep(LOOK_MS);
    }
  };
  await Promise.all([write(), look()]);
  return delays;
}

/** Builds the index of a search, asks it and follows writes. */
export async function measure(search: ServerSearch, plan: Plan): Promise<Measured> {
  const { db, questions } = plan;
  const documentsPerSecond = await backfill(search);
  const took: Record<Kind, number[]> = { prefix: [], typo: [], bounds: [], near: [] };
  const typoKeys: string[][] = [];
  for (const kind of KINDS) {
    for (const query of questions[kind]) {
      const begun = performance.now();
      const hits = await search.open().search(query, { after: undefined, limit: FIRST });
      took[kind].push(performance.now() - begun);
      if (kind === 'typo') typoKeys.push(hits.map(({ key }) => db.keys.parseMarker(key)?.key ?? ''));
    }
  }
  return { documentsPerSecond, took, typoKeys, delays: await measureDelays(search, plan) };
}
