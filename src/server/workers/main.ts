import type { Socket } from 'node:net';

import { silenceSdkAdvice } from '../../config.js';
import { createLog } from '../../log-output.js';
import { silentLog } from '../../log.js';
import { Channel, type Message } from './channel.js';
import type { PrimaryCalls, Sent } from './protocol.js';
import { runWorker, type RunningWorker } from './worker.js';

// What a worker process of a server runs. It ends when the primary process says so, or has ended.

const ENDS_WITHIN_MS = 15_000;

silenceSdkAdvice();
const channel = new Channel<PrimaryCalls>((messages) =>
  process.send?.(messages, undefined, undefined, () => undefined),
);
process.on('message', (message: readonly Message[] | Sent, socket?: Socket) => {
  if (!('connection' in message)) return channel.receive(message);
  // Sent before anything is read, so that no other worker gets a connection of which a part is missing.
  channel.tell('accepted', message.connection);
  // Undefined if the client has gone.
  if (socket) worker?.accept(socket);
});
process.on('disconnect', () => process.exit(1));
// Whatever else listens to messages must not let this process end while it waits for one.
process.channel?.ref();
// A terminal sends signals to all processes: the primary one decides what they mean.
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(name, () => undefined);

let log = silentLog;
let worker: RunningWorker | undefined;
/** Ends in order, as far as that is possible; the primary process starts another worker. */
function fail(err: unknown): void {
  log.error({ err }, 'An error that nothing has handled stops a worker process');
  channel.tell('answers', false);
  process.exitCode = 1;
  setTimeout(() => process.exit(1), ENDS_WITHIN_MS).unref();
  if (worker) void worker.stop();
  else process.exit(1);
}
process.on('uncaughtException', fail);
process.on('unhandledRejection', fail);

const boot = await channel.ask('boot');
log = createLog(boot.config.logLevel);
worker = await runWorker(channel, boot, () => process.exit(), log);
channel.tell('answers', true);
