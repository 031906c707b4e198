import { InvalidArgumentError, Option, type Command } from 'commander';

import { systemClock } from '../clock.js';
import type { Config } from '../config.js';
import { CellportError, reasonFor } from '../errors.js';
import type { Bounds } from '../geo/bounds.js';
import type { KeyStyle } from '../keys/keyspace.js';
import type { Log } from '../log.js';
import { retry } from '../retry.js';
import type { Backend } from '../server/backend.js';
import type { Call } from '../store/database.js';
import { isOutage } from '../store/request/failures.js';
import { Interrupted } from './failure.js';

/** Returns a function that adds commands to a group. */
export const subcommands = (group: Command) => (name: string, description: string) =>
  group.command(name).description(description);

/** Returns a parser for an option that is an integer in a range. */
export function wholeNumber(from: number, to: number) {
  return (text: string): number => {
    const value = Number(text);
    if (/^\d{1,9}$/.test(text) && value >= from && value <= to) return value;
    throw new InvalidArgumentError(`Expected a whole number from ${from} to ${to}.`);
  };
}

const UNIT_MS: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Parses an interval of a minute or more, such as `15m`, `1h` or `7d`, in milliseconds. */
export function interval(text: string): number {
  const [, count, unit = ''] = /^([1-9]\d{0,3})([mhd])$/.exec(text) ?? [];
  if (count !== undefined) return Number(count) * (UNIT_MS[unit] ?? 0);
  throw new InvalidArgumentError('Expected minutes, hours or days, such as 15m, 1h or 7d.');
}

/** Parses a numeric option; the command checks its range. */
export function anyNumber(text: string): number {
  const value = Number(text);
  if (text.trim() !== '' && Number.isFinite(value)) return value;
  throw new InvalidArgumentError('Expected a number.');
}

/** Returns a parser for an option that is a number in a range. */
export function numberFrom(from: number, to: number) {
  return (text: string): number => {
    const value = anyNumber(text);
    if (value >= from && value <= to) return value;
    throw new InvalidArgumentError(`Expected a number from ${from} to ${to}.`);
  };
}

function parseBounds(text: string): Bounds {
  const [west, south, east, north, ...more] = text.split(',').map(anyNumber);
  if (west === undefined || south === undefined || east === undefined || north === undefined || more.length > 0) {
    throw new InvalidArgumentError('Expected four numbers: west,south,east,north.');
  }
  if (Math.abs(south) > 90 || Math.abs(north) > 90) {
    // Clamped like those of a map client, whose views may reach beyond a pole.
    console.error(`warning: latitudes are from -90 to 90, in the order west,south,east,north; ${text} is cut to them`);
  }
  return { west, south, east, north };
}

export const boundsOption = (description: string) =>
  new Option('-b, --bounds <west,south,east,north>', description).argParser(parseBounds);

export const prefixLengthOption = () =>
  new Option('--prefix-length <n>', 'geohash characters in the partition key of markers').argParser(wholeNumber(0, 6));

export const writeShardsOption = (flag = '--write-shards') =>
  new Option(`${flag} <n>`, 'number of partitions for each prefix').argParser(wholeNumber(1, 32));

/** Names of properties, in one or several values: separated by commas. */
export const mapPropertyOption = (values: string, description: string) =>
  new Option(`--map-properties, --map-property ${values}`, description).argParser(
    (text: string, before: readonly string[] | undefined): readonly string[] => [
      ...(before ?? []),
      ...text.split(',').flatMap((name) => name.trim() || []),
    ],
  );

export const styleOption = () =>
  new Option('--style <style>', 'key style (default: CELLPORT_KEY_STYLE)').choices(['readable', 'compact']);

/** How keys are written, for commands that need no database. */
export interface KeyOptions {
  readonly style?: KeyStyle;
  readonly code?: string;
  readonly prefixLength: number;
  readonly writeShards: number;
  readonly json?: boolean;
}

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
const ERRORS = ['uncaughtException', 'unhandledRejection'] as const;
const SECOND_SIGNAL_EXIT = 1;
const FAILURE_EXIT = 1;
/** A signal to the process group of `npm start` arrives again when npm has ended. */
const SAME_SIGNAL_MS = 1_000;

/** How long work may take to end in order after an error that nothing has handled. */
const ENDS_WITHIN_MS = 15_000;

interface Stop {
  readonly signal: AbortSignal;
  /** Restores the default handling of signals and errors. */
  release(): void;
}

/**
 * A signal that is aborted by Ctrl-C or SIGTERM, with Interrupted as its reason. Another one, more than a second later, ends
 * the process immediately, which loses no acknowledged write. An error that nothing else has handled also aborts it,
 * with the error as its reason, and is passed to `onError`.
 */
export function onStop(onError: (error: unknown) => void): Stop {
  const controller = new AbortController();
  let first = Infinity;
  const stop = (name: string): void => {
    if (systemClock.now() - first > SAME_SIGNAL_MS) process.exit(SECOND_SIGNAL_EXIT);
    if (controller.signal.aborted) return;
    first = systemClock.now();
    controller.abort(new Interrupted(`cellport: stopped by ${name}`));
  };
  const fail = (error: unknown): void => {
    onError(error);
    // It may be what keeps the work from ending.
    setTimeout(() => process.exit(FAILURE_EXIT), ENDS_WITHIN_MS).unref();
    controller.abort(error);
  };
  for (const name of SIGNALS) process.on(name, stop);
  for (const name of ERRORS) process.on(name, fail);
  return {
    signal: controller.signal,
    release: () => {
      for (const name of SIGNALS) process.off(name, stop);
      for (const name of ERRORS) process.off(name, fail);
    },
  };
}

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
  for (const name of config.unknown) log.warn({ setting: name }, `Ignoring unknown setting ${name}`);
  return { config, log };
}

/** The key style for a command. */
export async function keyStyle({ style }: KeyOptions): Promise<KeyStyle> {
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

export interface CommandSession extends CommandSettings, Backend {
  /** For what the command itself reads and writes. */
  readonly call: Call;
}

/** Runs a command with its settings. */
export async function withSettings(
  work: (settings: CommandSettings) => Promise<void>,
  options: { readonly demo?: boolean } = {},
): Promise<void> {
  const settings = await readSettings(options);
  const onError = (err: unknown) => settings.log.error({ err }, 'An error that nothing has handled stops the command');
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
    const { newCall } = await import('../store/database.js');
    const { ownTables } = await import('../store/table/tables.js');
    await withBackend(settings, async (backend) => {
      await ownTables(backend.database);
      await work({ ...settings, ...backend, call: newCall(backend.database, settings.signal) });
    });
  });
}
