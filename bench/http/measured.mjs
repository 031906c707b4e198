// Loaded into a measured process before its own code. Answers messages: what CPU time it has used so far, and what it spent
// it on between two of them.
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

process.on('message', async (order) => {
  if (Object.hasOwn(orders, order)) process.send(await orders[order]());
});
// Being asked is no reason to stay.
process.channel?.unref();
