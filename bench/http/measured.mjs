// Loaded into a measured process before its own code. Answers messages with the CPU time used so far, or with a CPU profile
// of the time between two messages.
import { Session } from 'node:inspector/promises';

const session = new Session();
session.connect();

const orders = {
  cpu: async () => process.cpuUsage(),
  'start profile': async () => {
    await session.post('Profiler.enable');
    await session.post('Profiler.start');
    return {};
  },
  'end profile': async () => {
    const { profile } = await session.post('Profiler.stop');
    return profile;
  },
};

process.on('message', (order) => {
  if (Object.hasOwn(orders, order)) void orders[order]().then((answer) => process.send(answer));
});
// The message channel must not keep the process alive.
process.channel?.unref();
