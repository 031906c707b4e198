import type { Config } from '../config.js';
import type { KeyStyle } from '../keys/keyspace.js';
import type { Log } from '../log.js';
import type { Backend } from '../server/backend.js';
import type { KeyOptions } from './options.js';
import { onStop } from './stop.js';

/** The settings, and a log that has warned of unknown ones. Throws BAD_USER_INPUT with all invalid settings. */
export async function readSettings(options: { readonly demo?: boolean } = {}): Promise<{ config: Config; log: Log }> {
  // Loaded when a command runs, so that `--help` works whatever the settings are.
  const [{ readConfig, silenceSdkAdvice }, { createLog }] = await Promise.all([
    import('../config.js'),
    import('../log.js'),
  ]);
  silenceSdkAdvice();
  const config = readConfig(options);
  const log = createLog(config.logLevel);
  for (const name of config.unknown) log.warn({ setting: name }, `ignoring unknown setting ${name}`);
  return { config, log };
}

/** The key style that a command works with. */
export async function keyStyle({ style }: Pick<KeyOptions, 'style'>): Promise<KeyStyle> {
  return style ?? (await readSettings()).config.keyStyle;
}

/** What a command works with. */
export interface Settings {
  readonly config: Config;
  readonly log: Log;
  /** Aborted by Ctrl-C and SIGTERM. */
  readonly signal: AbortSignal;
}

export interface Session extends Settings, Backend {}

/** Runs a command with its settings. */
export async function withSettings(
  work: (settings: Settings) => Promise<void>,
  options: { readonly demo?: boolean } = {},
): Promise<void> {
  const settings = await readSettings(options);
  const stop = onStop();
  try {
    await work({ ...settings, signal: stop.signal });
  } finally {
    stop.release();
  }
}

/** Runs a command on the database of the settings, and closes it when the command is done. */
export async function withDatabase(work: (session: Session) => Promise<void>): Promise<void> {
  await withSettings(async (settings) => {
    const { withBackend } = await import('../server/backend.js');
    await withBackend(settings.config, (backend) => work({ ...settings, ...backend }));
  });
}
