import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';

/** An operation on one marker. */
export interface Operation {
  readonly key: string;
  readonly kind: 'read' | 'create' | 'update' | 'upsert' | 'delete';
  /** `unknown`: the answer was lost, or left open whether it happened. */
  readonly result: 'ok' | 'created' | 'updated' | 'done' | 'CONFLICT' | 'NOT_FOUND' | 'unknown';
  /** What it writes, or what it was told; undefined if there is no marker. */
  readonly value?: number | undefined;
  readonly version?: number | undefined;
  readonly expected?: number | undefined;
  readonly client: number;
  /** By the runner's monotonic clock, in microseconds; -1 if it is unknown whether it happened. */
  readonly call: number;
  readonly return: number;
}

export interface Verdict {
  readonly linearizable: readonly string[];
  readonly violations: readonly string[];
  readonly undecided: readonly string[];
}

/** Compiles the checker into a folder; undefined, said loudly, where Go is missing or cannot fetch Porcupine. */
export function buildChecker(folder: string): string | undefined {
  const go = ['/usr/local/go/bin/go', '/usr/lib/go/bin/go'].find((path) => existsSync(path)) ?? 'go';
  const program = join(folder, 'porcupine');
  const built = spawnSync(go, ['build', '-o', program, '.'], {
    cwd: join(import.meta.dirname, 'porcupine'),
    encoding: 'utf8',
    timeout: 300_000,
  });
  if (built.status === 0) return program;
  const reason = built.error?.message ?? built.stderr;
  console.error(
    `NOT CHECKED: whether histories are linearizable, because Porcupine cannot be built with Go: ${reason}`,
  );
  return undefined;
}

/** Whether there is, for each marker, one order of all operations that explains every answer. */
export function checkHistory(checker: string, history: readonly Operation[]): Verdict {
  const input = history.map((operation) => `${JSON.stringify(operation)}\n`).join('');
  const { status, stdout, stderr } = spawnSync(checker, { input, encoding: 'utf8', maxBuffer: 1 << 28 });
  if (status !== 0) throw new Error(`the checker failed: ${stderr}`);
  return JSON.parse(stdout) as Verdict;
}
