import { silenceSdkAdvice } from '../../config.js';
import { silentLog } from '../../log.js';
import { createLog } from '../../log-output.js';
import { Channel, type Message } from './channel.js';
import type { PrimaryCalls } from './protocol.js';
import { runWorker } from './worker.js';

// What a worker process of a server runs. It ends when the primary process says so, or has ended.

const ENDS_WITHIN_MS = 15_000;

silenceSdkAdvice();
const channel = new Channel<PrimaryCalls>((messages) => process.send?.(messages, undefined, undefined, () => undefined));
process.on('message', (messages: unknown) => {
  if (Array.isArray(messages)) channel.receive(messages as Message[]);
});
process.channel?.ref();
// A terminal sends signals to all processes: the primary one decides what they mean.
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(name, () => undefined);

let log = silentLog;
let stop: () => Promise<void> = async () => process.exit(1);
/** Ends in order, as far as that is possible; the primary process starts another worker. */
function fail(err: unknown): void {
  log.error({ err }, 'An error that nothing has handled stops a worker process');
  process.exitCode = 1;
  setTimeout(() => process.exit(1), ENDS_WITHIN_MS).unref();
  void stop();
}
process.on('uncaughtException', fail);
process.on('unhandledRejection', fail);

const boot = await channel.ask('boot');
log = createLog(boot.config.logLevel);
stop = await runWorker(channel, boot, () => process.exit(), log);
