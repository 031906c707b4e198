import { createPublicKey, verify } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';

import { hashOfKey } from '../src/access/api-key.js';
import { Authenticator } from '../src/access/authenticator.js';
import { GraphqlServer } from '../src/graphql/server.js';
import { silentLog } from '../src/log.js';
import { removeKey, storedKey, storeRules } from '../src/store/access/access-items.js';
import { newCall } from '../src/store/database.js';
import { bearer, createKey, JWT, token } from '../test/access/guarded-server.js';
import { measureAttacked } from './access/attacked.js';
import { pointsAroundCities } from './rig/points.js';
import { startRig, type Rig } from './rig/rig.js';
import { quantile, shown } from './rig/statistics.js';
import type { Benchmark, BenchOptions, Row, Section } from './section.js';

const SEED = 36;
const MARKERS = 20_000;
/** Short and many: of a busy machine, those that were disturbed least count. */
const ROUNDS = 300;
const IN_A_ROUND = 5;
/** Rounds that are not counted: V8 compiles meanwhile. */
const WARM_UP = 30;
const LEAST = 0.25;
const TOKENS = 4_000;
const TOKENS_IN_A_ROUND = 50;
const TRIES = 10_000;
const REVOKED = 60;
/** Streams of other keys, which ask again whenever something has changed. */
const OTHER_STREAMS = 500;
const CPU_BAR = 1.03;
const TOKEN_BAR_MS = 0.2;
const EQUAL_BAR = 0.05;
const WITHDRAWN_BAR_MS = 1_000;

const MAP = `query Map($bounds: BoundsInput!) {
  viewport(bounds: $bounds, zoom: 9) { auto(collection: "points", limit: 300) { mode total markers { id name position { lng lat } } } }
}`;
/** Questions about one collection. */
const QUESTIONS = {
  'a collection': 'query ($key: String!) { collection(key: $key) { name count } }',
  'a map': `query ($key: String!) { viewport(bounds: { west: 1, south: 1, east: 2, north: 2 }, zoom: 9) { count(collection: $key) } }`,
  'a change': `mutation ($key: String!) { createMarker(input: { collection: $key, key: "m", position: { lng: 1, lat: 1 } }) { key } }`,
} as const;
const RULES = {
  roles: {
    reader: [{ collections: ['points'], may: ['read'] }],
    stranger: [{ collections: ['others'], may: ['read'] }],
  },
  jwt: JWT,
};

type Headers = Readonly<Record<string, string>>;
type Ask = (body: object, headers?: Headers) => Promise<string>;

const asking =
  (server: GraphqlServer): Ask =>
  async (body, headers = {}) => {
    const request = { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, search: '', body };
    return String((await server.answer(request, new AbortController().signal)).body);
  };

/** Milliseconds of CPU of some work. */
async function cpuOf(work: () => Promise<void>): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}

/** CPU with a credential, as a share of that without, and the requests' own CPU in milliseconds. */
async function costOf(
  open: Ask,
  guarded: Ask,
  headers: Headers,
): Promise<{ readonly ratio: number; readonly ms: number }> {
  const bounds = { west: 13, south: 52, east: 14, north: 53 };
  const many = (ask: Ask, sent: Headers) =>
    cpuOf(async () => {
      for (let n = 0; n < IN_A_ROUND; n += 1) await ask({ query: MAP, variables: { bounds } }, sent);
    });
  const times = { without: [] as number[], with: [] as number[] };
  for (let round = 0; round < WARM_UP + ROUNDS; round += 1) {
    const isFirst = round % 2 === 0;
    if (isFirst) times.without.push(await many(open, {}));
    times.with.push(await many(guarded, headers));
    if (!isFirst) times.without.push(await many(open, {}));
    if (round === WARM_UP - 1) times.without.length = times.with.length = 0;
  }
  const without = quantile(times.without, LEAST);
  return { ratio: quantile(times.with, LEAST) / without, ms: without / IN_A_ROUND };
}

/** The medians, in milliseconds, of asking for two collections in turn. Throws if the answers tell them apart. */
async function mediansOf(
  ask: Ask,
  headers: Headers,
  query: string,
  keys: readonly [string, string],
): Promise<readonly number[]> {
  const times: Record<string, number[]> = {};
  const bodies = new Set<string>();
  for (let n = 0; n < 2 * TRIES; n += 1) {
    // The order changes from pair to pair.
    const key = keys[(n + Math.floor(n / 2)) % 2] ?? '';
    const began = performance.now();
    const body = await ask({ query, variables: { key } }, headers);
    (times[key] ??= []).push(performance.now() - began);
    bodies.add(body.replaceAll(key, 'KEY'));
  }
  if (bodies.size !== 1) throw new Error(`a private collection is told apart: ${[...bodies].join(' ')}`);
  return keys.map((key) => quantile(times[key] ?? [], 0.5));
}

/** How long the streams of keys last on each of two servers after these have been revoked, in milliseconds. */
async function withdrawals({ db }: Rig, authenticators: readonly Authenticator[]): Promise<readonly number[]> {
  const times: number[] = [];
  const others = await Promise.all(
    Array.from({ length: OTHER_STREAMS / 10 }, async () => bearer(await createKey(db, { roles: ['reader'] }))),
  );
  const held: (() => void)[] = [];
  for (const authenticator of authenticators) {
    for (let n = 0; n < OTHER_STREAMS; n += 1) {
      const credential = others[n % others.length] ?? {};
      const access = await authenticator.access(credential);
      held.push(authenticator.hold(credential, access, (reason) => console.error(reason)));
    }
  }
  for (let n = 0; n < REVOKED; n += 1) {
    const key = await createKey(db, { roles: ['reader'] });
    const credential = bearer(key);
    await sleep(Math.random() * 500);
    const stored = await storedKey(newCall(db), hashOfKey(key) ?? '');
    if (!stored) throw new Error('the key is not stored');
    const accesses = await Promise.all(authenticators.map((each) => each.access(credential)));
    let began = Infinity;
    const ended = accesses.map(async (access, at) => {
      await new Promise<void>((resolve) => authenticators[at]?.hold(credential, access, () => resolve()));
      times.push(Math.max(0, performance.now() - began));
    });
    await removeKey(newCall(db), stored);
    began = performance.now();
    await Promise.all(ended);
  }
  for (const release of held) release();
  return times;
}

/** Whether a stranger can tell a private collection from a name that was never used. */
async function equalRows(ask: Ask, stranger: Headers, say: BenchOptions['say']): Promise<Row[]> {
  const equal: Row[] = [];
  for (const [what, query] of Object.entries(QUESTIONS)) {
    say(`${TRIES} tries of ${what} for a private collection, and a name that was never used`);
    const [hidden = 0, unused = 0] = await mediansOf(ask, stranger, query, ['private', 'unused']);
    const apart = Math.abs(hidden / unused - 1);
    equal.push({
      what: `${what} of a private collection against a name never used: bodies equal, medians`,
      bar: 'at most 5 % apart',
      measured: `${shown(100 * apart, 1)} %`,
      against: `${shown(hidden, 3)} and ${shown(unused, 3)} ms over ${TRIES.toLocaleString('en')} tries each`,
      holds: apart <= EQUAL_BAR,
    });
  }
  return equal;
}

/** What another client notices of an attack. */
async function attackRow(): Promise<Row> {
  const { quiet, attacked, statuses } = await measureAttacked();
  const [quietP99, attackedP99] = [quantile(quiet, 0.99), quantile(attacked, 0.99)];
  return {
    what: 'a map of another client while 8 clients without a name ask for all they can, p50 and p99',
    bar: '',
    measured: `${shown(quantile(attacked, 0.5), 0)} and ${shown(attackedP99, 0)} ms`,
    against:
      `before ${shown(quantile(quiet, 0.5), 0)} and ${shown(quietP99, 0)} ms; ` +
      [...statuses].map(([status, count]) => `${count} × ${status}`).join(', '),
  };
}

/** CPU of a token the first time, and of its signature alone, in milliseconds. */
async function firstMs(authenticator: Authenticator, tokens: readonly string[]): Promise<readonly [number, number]> {
  const key = createPublicKey({ key: { ...JWT.jwks.keys[0] }, format: 'jwk' });
  const checkSignature = async (one: string) => {
    const end = one.lastIndexOf('.');
    const signature = Buffer.from(one.slice(end + 1), 'base64url');
    const isOf = verify('sha256', Buffer.from(one.slice(0, end)), { key, dsaEncoding: 'ieee-p1363' }, signature);
    if (!isOf) throw new Error("a token is not the issuer's");
  };
  const uses = [(one: string) => authenticator.access(bearer(one)), checkSignature];
  const rounds: number[][] = uses.map(() => []);
  for (let from = 0; from < tokens.length; from += TOKENS_IN_A_ROUND) {
    const some = tokens.slice(from, from + TOKENS_IN_A_ROUND);
    for (const [index, use] of uses.entries()) {
      const used = await cpuOf(async () => {
        for (const each of some) await use(each);
      });
      rounds[index]?.push(used / TOKENS_IN_A_ROUND);
    }
  }
  const [first = 0, signature = 0] = rounds.map((times) => quantile(times, LEAST));
  return [first, signature];
}

async function run({ say }: BenchOptions): Promise<Section> {
  const rig = await startRig();
  const [authenticator, second] = [new Authenticator(rig.db, silentLog), new Authenticator(rig.db, silentLog)];
  try {
    await rig.fill('points', pointsAroundCities(MARKERS, SEED));
    await rig.fill('private', pointsAroundCities(100, SEED));
    await storeRules(newCall(rig.db), JSON.stringify(RULES));
    authenticator.start();
    second.start();
    const [off, on] = [
      await GraphqlServer.open(rig.services, silentLog),
      await GraphqlServer.open({ ...rig.services, authenticator }, silentLog),
    ];
    const [open, guarded] = [asking(off), asking(on)];
    const key = bearer(await createKey(rig.db, { roles: ['reader'] }));
    say('CPU of a request with a key, and with a token');
    const withKey = await costOf(open, guarded, key);
    const withToken = await costOf(open, guarded, bearer(await token({ roles: ['reader'] })));
    say(`${TOKENS} tokens, each for the first time`);
    const tokens: string[] = [];
    for (let n = 0; n < TOKENS; n += 1) tokens.push(await token({ sub: `subject ${n % 50}`, n, roles: ['reader'] }));
    const [tokenMs, signatureMs] = await firstMs(authenticator, tokens);
    const stranger = bearer(await createKey(rig.db, { roles: ['stranger'] }));
    const equal = await equalRows(guarded, stranger, say);
    say(`${REVOKED} keys are revoked`);
    const gone = await withdrawals(rig, [authenticator, second]);
    say('an attack');
    const attack = await attackRow();
    await Promise.all([off.stop(), on.stop()]);
    const p99 = quantile(gone, 0.99);
    return {
      title: 'Access',
      rows: [
        {
          what: 'CPU of a map with an API key',
          bar: `at most ${CPU_BAR} times`,
          measured: `${shown(withKey.ratio, 3)} times`,
          against: `${shown(withKey.ms, 2)} ms without rules`,
          holds: withKey.ratio <= CPU_BAR,
        },
        {
          what: 'CPU of a map with a token that is known',
          bar: '',
          measured: `${shown(withToken.ratio, 3)} times`,
          against: `${shown(withToken.ms, 2)} ms without rules`,
        },
        {
          what: 'CPU of a token the first time',
          bar: `at most ${TOKEN_BAR_MS} ms`,
          measured: `${shown(tokenMs, 2)} ms`,
          against: `${shown(signatureMs, 2)} ms for its signature alone`,
          holds: tokenMs <= TOKEN_BAR_MS,
        },
        ...equal,
        {
          what: 'until a revoked key ends its streams on two servers with 500 others, p50 and p99',
          bar: 'p99 at most 1,000 ms',
          measured: `${shown(quantile(gone, 0.5), 0)} and ${shown(p99, 0)} ms`,
          against: '',
          holds: p99 <= WITHDRAWN_BAR_MS,
        },
        attack,
      ],
      isDetail: true,
      text: `CPU is the lower quartile of ${ROUNDS} rounds in turn.`,
    };
  } finally {
    await Promise.all([authenticator.stop(), second.stop()]);
    await rig.close();
  }
}

export const access: Benchmark = { name: 'access', hasCounts: false, run };
