import type { Config } from '../config.js';
import { CellportError, reasonFor } from '../errors.js';
import type { KeyStyle } from '../keys/keyspace.js';
import type { Log } from '../log.js';
import { retry } from '../retry.js';
import type { Backend } from '../server/backend.js';
import { isOutage } from '../store/request/failures.js';
import type { KeyOptions } from './options.js';
import { Interrupted } from './failure.js';
import { onStop } from './stop.js';

/**
 * Reads the settings and opens the log; warns about unknown settings. Throws BAD_USER_INPUT listing all invalid ones.
 */
export async function readSettings(options: { readonly demo?: boolean } = {}): Promise<{ config: Config; log: Log }> {
  // Loaded only when a command runs, so that `--help` works even with invalid settings.
  const [{ readConfig, silenceSdkAdvice }, { createLog }] = await Promise.all([
    import('../config.js'),
    import('../log-output.js'),
  ]);
  silenceSdkAdvice();
  const config = readConfig(options);
  const log = createLog(config.logLevel);
  for (const name of config.unknown) log.warn({ setting: name }, `ignoring unknown setting ${name}`);
  return { config, log };
}

/** The key style for a command. */
export async function keyStyle({ style }: Pick<KeyOptions, 'style'>): Promise<KeyStyle> {
  return style ?? (await readSettings()).config.keyStyle;
}

/** With what the store retries by itself, some ten minutes. */
const RESUMED = { attempts: 30, firstMs: 1_000, longestMs: 30_000 };

/** Runs a part of a command that may be repeated, and resumes it while DynamoDB throttles or does not respond. */
export async function resumed<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  try {
    const onRetry = (error: unknown) => console.error(`${reasonFor(error)}; trying again`);
    return await retry(work, { ...RESUMED, signal, retryable: isOutage, onRetry });
  } catch (error) {
    if (!isOutage(error)) throw error;
    const { code, message, cause } = error;
    throw new CellportError(code, `${message}; run the same command again to resume`, {}, { cause });
  }
}

/** The settings, log and stop signal of a command. */
export interface CommandSettings {
  readonly config: Config;
  readonly log: Log;
  /** Aborted by Ctrl-C and SIGTERM. */
  readonly signal: AbortSignal;
}

export interface CommandSession extends CommandSettings, Backend {}

/** Runs a command with its settings. */
export async function withSettings(
  work: (settings: CommandSettings) => Promise<void>,
  options: { readonly demo?: boolean } = {},
): Promise<void> {
  const settings = await readSettings(options);
  const onError = (err: unknown) => settings.log.error({ err }, 'an error that nothing has handled: stopping');
  const { signal, ...stop } = onStop(onError);
  try {
    await work({ ...settings, signal });
    // A server that stops in order has not failed, unless that is why it stops.
    if (signal.aborted && !(signal.reason instanceof Interrupted)) throw signal.reason;
  } finally {
    stop.release();
  }
}

/**
 * Runs a command on the configured database, and closes it afterwards. Throws UNAVAILABLE if a table is not Cellport's.
 */
export async function withDatabase(work: (session: CommandSession) => Promise<void>): Promise<void> {
  await withSettings(async (settings) => {
    const { withBackend } = await import('../server/backend.js');
    const { ownTables } = await import('../store/table/tables.js');
    await withBackend(settings, async (backend) => {
      await ownTables(backend.database);
      await work({ ...settings, ...backend });
    });
  });
}
