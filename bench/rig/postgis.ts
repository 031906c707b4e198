import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** A temporary PostgreSQL server that listens only on a socket in its own folder. */
export interface Postgis {
  /** Version of PostGIS. */
  readonly version: string;
  /** Folder of the socket that it listens on. */
  readonly socket: string;
  /** Process that all others descend from. */
  readonly pid: number;
  /** Runs SQL with `psql`. Returns the lines of its output, columns separated by tabs. */
  readonly sql: (text: string) => string[];
  readonly close: () => Promise<void>;
}

const DEBIAN = '/usr/lib/postgresql';
const TRIES = 100;
const MOST_OUTPUT = 2 ** 30;

/** Debian's folder of a PostgreSQL with PostGIS; undefined if it is not installed. */
function findPrograms(): string | undefined {
  const versions = existsSync(DEBIAN) ? readdirSync(DEBIAN) : [];
  const found = versions.find((version) => existsSync(`/usr/share/postgresql/${version}/extension/postgis.control`));
  return found && join(DEBIAN, found, 'bin');
}

/** The user to run PostgreSQL as. It refuses to run as root, so root switches to the package's user. */
function owner(): { readonly uid?: number; readonly gid?: number } {
  if (process.getuid?.() !== 0) return {};
  const idOf = (flag: string) => Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }));
  return { uid: idOf('-u'), gid: idOf('-g') };
}

/** Starts PostGIS; undefined if it is not installed. */
export async function startPostgis(): Promise<Postgis | undefined> {
  const programs = findPrograms();
  if (programs === undefined) return undefined;
  const folder = mkdtempSync(join(tmpdir(), 'cellport-postgis-'));
  const user = owner();
  if (user.uid !== undefined && user.gid !== undefined) chownSync(folder, user.uid, user.gid);
  const data = join(folder, 'data');
  const quietly = { ...user, cwd: folder, stdio: 'ignore' } as const;
  execFileSync(join(programs, 'initdb'), ['-D', data, '-U', 'bench', '-A', 'trust', '-E', 'UTF8', '-N'], quietly);
  const settings = [`unix_socket_directories=${folder}`, 'listen_addresses=', 'fsync=off', 'jit=off'];
  const server = spawn(join(programs, 'postgres'), ['-D', data, ...settings.flatMap((one) => ['-c', one])], quietly);
  const stopped = once(server, 'close');
  const sql = (text: string): string[] =>
    execFileSync(
      join(programs, 'psql'),
      ['-h', folder, '-U', 'bench', '-d', 'postgres', '-XqAt', '-F', '\t', '-v', 'ON_ERROR_STOP=1'],
      {
        input: text,
        encoding: 'utf8',
        maxBuffer: MOST_OUTPUT,
        stdio: ['pipe', 'pipe', 'pipe'],
      },
    )
      .split('\n')
      .filter((line) => line !== '');
  const close = async () => {
    server.kill('SIGINT');
    await stopped;
    rmSync(folder, { recursive: true });
  };
  for (let tries = 1; ; tries++) {
    try {
      const [version = ''] = sql('CREATE EXTENSION IF NOT EXISTS postgis; SELECT postgis_lib_version();');
      return { version, socket: folder, pid: server.pid ?? 0, sql, close };
    } catch (error) {
      if (tries === TRIES) {
        await close();
        throw error;
      }
      await sleep(100);
    }
  }
}
