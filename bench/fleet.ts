import { killedFleets } from './fleet/killed.js';
import { newServerRows } from './fleet/new-servers.js';
import type { Benchmark, Section } from './section.js';

/** The cost of new servers on the same tables, and what clients of a fleet see while its servers are killed. */
export const fleet: Benchmark = {
  name: 'fleet',
  hasCounts: false,
  async run({ say }): Promise<Section> {
    const rows = await newServerRows(say);
    const killed = await killedFleets(say);
    return {
      title: 'Fleets of servers on the same tables',
      rows: [...rows, ...killed.rows],
      text: 'New servers read maps with up to 2,000 markers, and cache only the directory. In the other test, a server is killed and restarted every 20 s while clients pan and a writer moves vehicles; a failed request goes to the next server once.',
      details: killed.text,
      isDetail: true,
    };
  },
};
