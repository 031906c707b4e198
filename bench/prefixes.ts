import { entryBytes, measureView, scan } from './rig/measure-views.js';
import { viewsAbout } from './rig/places.js';
import { cityMarkers } from './rig/points.js';
import { startRig } from './rig/rig.js';
import { mean, shown, table } from './rig/statistics.js';
import type { Benchmark, BenchOptions, Section } from './section.js';

const SEED = 20_261_121;
const MOST_INSIDE = 2_000;
const PREFIXES = [0, 1, 2, 3, 4];

/** The cost of the same maps for each prefix length. */
async function run({ say }: BenchOptions): Promise<Section> {
  const markers = cityMarkers().filter(({ properties }) => Number(properties?.['population']) >= 5_000);
  const views = viewsAbout(markers, 60, SEED)
    .map((view) => ({ view, inside: scan(markers, view) }))
    .filter(({ inside }) => inside.length > 0 && inside.length <= MOST_INSIDE);
  const rows: (readonly (string | number)[])[] = [];
  for (const prefixLength of PREFIXES) {
    say(`prefix length ${prefixLength}`);
    const rig = await startRig();
    try {
      const collection = await rig.fill('cities', markers, prefixLength);
      const bytes = new Map(markers.map((marker) => [marker.key, entryBytes(rig, collection, marker)]));
      const measured = [];
      for (const { view, inside } of views) {
        const sizes = inside.map(({ key }) => bytes.get(key) ?? 0);
        measured.push(await measureView(rig, 'cities', view, sizes));
      }
      const queries = measured.map(({ index }) => index.queries);
      rows.push([
        prefixLength,
        shown(mean(queries)),
        shown(mean(measured.map(({ index, floor }) => index.readUnits / floor)), 2),
      ]);
    } finally {
      await rig.close();
    }
  }
  return {
    title: 'Prefix lengths',
    isDetail: true,
    rows: [],
    text: [
      `Means of ${views.length} maps around random ones of ${markers.length.toLocaleString('en')} cities, with up to ${MOST_INSIDE.toLocaleString('en')} markers inside, read from the geo index:\n`,
      table([['prefix length', 'Query calls', 'read units / yardstick'], ...rows]),
    ].join('\n'),
  };
}

export const prefixes: Benchmark = { name: 'prefixes', hasCounts: false, run };
