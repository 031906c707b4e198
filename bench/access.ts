import { setTimeout as sleep } from 'node:timers/promises';

import { hashOfKey } from '../src/access/api-key.js';
import { Authenticator } from '../src/access/authenticator.js';
import { GraphqlServer } from '../src/graphql/server.js';
import { silentLog } from '../src/log.js';
import { removeKey, storedKey, storeRules } from '../src/store/access/access-items.js';
import { newCall } from '../src/store/request/meter.js';
import { bearer, createKey, JWT, token } from '../test/access/guarded-server.js';
import { pointsAroundCities } from './rig/points.js';
import { startRig, type Rig } from './rig/rig.js';
import { quantile, shown } from './rig/statistics.js';
import type { Benchmark, BenchOptions, Section } from './section.js';

const SEED = 36;
const MARKERS = 20_000;
const ROUNDS = 30;
const IN_A_ROUND = 20;
const TOKENS = 2_000;
const TRIES = 10_000;
const REVOKED = 60;
const CPU_BAR = 1.03;
const TOKEN_BAR_MS = 0.2;
const EQUAL_BAR = 0.05;
const WITHDRAWN_BAR_MS = 1_000;

const MAP = `query Map($bounds: BoundsInput!) {
  viewport(bounds: $bounds, zoom: 9) { auto(collection: "points", limit: 300) { mode total markers { id name position { lng lat } } } }
}`;
const ONE = 'query One($key: String!) { collection(key: $key) { name count } }';
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
  const ratios: number[] = [];
  const without: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const first = round % 2 === 0 ? await many(open, {}) : undefined;
    const with_ = await many(guarded, headers);
    const plain = first ?? (await many(open, {}));
    ratios.push(with_ / plain);
    without.push(plain / IN_A_ROUND);
  }
  return { ratio: quantile(ratios, 0.5), ms: quantile(without, 0.5) };
}

/** The medians, in milliseconds, of asking for two collections in turn. */
async function mediansOf(ask: Ask, headers: Headers, keys: readonly [string, string]): Promise<readonly number[]> {
  const times: Record<string, number[]> = {};
  for (let n = 0; n < 2 * TRIES; n += 1) {
    // The order changes from pair to pair.
    const key = keys[(n + Math.floor(n / 2)) % 2] ?? '';
    const began = performance.now();
    await ask({ query: ONE, variables: { key } }, headers);
    (times[key] ??= []).push(performance.now() - began);
  }
  return keys.map((key) => quantile(times[key] ?? [], 0.5));
}

/** How long keys count after they have been revoked, in milliseconds. */
async function withdrawals({ db }: Rig, authenticator: Authenticator): Promise<readonly number[]> {
  const times: number[] = [];
  for (let n = 0; n < REVOKED; n += 1) {
    const key = await createKey(db, { roles: ['reader'] });
    const credential = bearer(key);
    await sleep(Math.random() * 500);
    const access = await authenticator.access(credential);
    const stored = await storedKey(db, hashOfKey(key) ?? '', newCall());
    if (!stored) throw new Error('the key is not stored');
    let began = Infinity;
    const ended = new Promise<void>((resolve) => authenticator.hold(credential, access, () => resolve()));
    await removeKey(db, stored, newCall());
    began = performance.now();
    await ended;
    times.push(performance.now() - began);
  }
  return times;
}

async function run({ say }: BenchOptions): Promise<Section> {
  const rig = await startRig();
  const authenticator = new Authenticator(rig.db, silentLog);
  try {
    await rig.fill('points', pointsAroundCities(MARKERS, SEED));
    await rig.fill('private', pointsAroundCities(100, SEED));
    await storeRules(rig.db, JSON.stringify(RULES), newCall());
    authenticator.start();
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
    const firstCpu = await cpuOf(async () => {
      for (const each of tokens) await authenticator.access(bearer(each));
    });
    say(`${TRIES} tries for a private collection, and a name that was never used`);
    const stranger = bearer(await createKey(rig.db, { roles: ['stranger'] }));
    const [hidden = 0, unused = 0] = await mediansOf(guarded, stranger, ['private', 'unused']);
    say(`${REVOKED} keys are revoked`);
    const gone = await withdrawals(rig, authenticator);
    await Promise.all([off.stop(), on.stop()]);
    const apart = Math.abs(hidden / unused - 1);
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
          measured: `${shown(firstCpu / TOKENS, 2)} ms`,
          against: '',
          holds: firstCpu / TOKENS <= TOKEN_BAR_MS,
        },
        {
          what: 'a private collection against a name never used, medians',
          bar: 'at most 5 % apart',
          measured: `${shown(100 * apart, 1)} %`,
          against: `${shown(hidden, 3)} and ${shown(unused, 3)} ms over ${TRIES.toLocaleString('en')} tries each`,
          holds: apart <= EQUAL_BAR,
        },
        {
          what: 'until a revoked key ends its streams, p50 and p99',
          bar: 'p99 at most 1,000 ms',
          measured: `${shown(quantile(gone, 0.5), 0)} and ${shown(p99, 0)} ms`,
          against: '',
          holds: p99 <= WITHDRAWN_BAR_MS,
        },
      ],
      text: undefined,
    };
  } finally {
    await authenticator.stop();
    await rig.close();
  }
}

export const access: Benchmark = { name: 'access', hasCounts: false, run };
