import type { Profiler } from 'node:inspector';

import type { Measured } from './processes.js';

const SHOWN = 10;
/** Frames that are not part of the program. */
const IDLE = new Set(['(idle)', '(program)', '(root)']);

function placeOf({ functionName, url }: { readonly functionName: string; readonly url: string }): string {
  const file = url.replace(/^.*\/node_modules\//, '').replace(/^.*\/dist\//, 'dist/');
  return `${functionName || '(anonymous)'}${file === '' ? '' : ` ${file}`}`;
}

/** The functions with the most self time in a process while `work` runs, as Markdown. */
export async function profiled(process: Measured, work: () => Promise<unknown>): Promise<string> {
  await process.ask('start profile');
  await work();
  const { nodes, samples = [], timeDeltas = [] } = await process.ask<Profiler.Profile>('end profile');
  const places = new Map(nodes.map(({ id, callFrame }) => [id, placeOf(callFrame)]));
  const times = new Map<string, number>();
  samples.forEach((id, index) => {
    const place = places.get(id) ?? '';
    if (!IDLE.has(place)) times.set(place, (times.get(place) ?? 0) + (timeDeltas[index] ?? 0));
  });
  const busy = [...times.values()].reduce((sum, time) => sum + time, 0);
  const top = [...times].toSorted(([, a], [, b]) => b - a).slice(0, SHOWN);
  return top.map(([place, time]) => `- ${((100 * time) / busy).toFixed(1)}% \`${place}\``).join('\n');
}
