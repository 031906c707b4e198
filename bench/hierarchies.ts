import { CreateTableCommand } from '@aws-sdk/client-dynamodb';

import { extraItemRegister, extraItemTable } from '../examples/sensors/extra-item.js';
import type { SensorRegister } from '../examples/sensors/register.js';
import { sparseIndexRegister, sparseIndexTable } from '../examples/sensors/sparse-index.js';
import { startEngine } from '../src/engine/start.js';
import { createDatabase } from '../src/store/create-database.js';
import { countUnits, type Units } from './hierarchies/units.js';
import { shown } from './rig/statistics.js';
import type { Benchmark, Section } from './section.js';

/** Number of sensors on the floor that is listed. */
const SENSORS = 100;
const FLOOR = ['Poznań', 'Bałtyk', '3'] as const;

const OPERATIONS = [
  'create',
  'change of place',
  'edit of a listed attribute',
  'edit of another attribute',
  'delete',
  `list of ${SENSORS} sensors`,
] as const;

/** Units of the operations, in order, by AWS's published rules for items under 1 KB. */
const WRITES_BY_RULE = { extra: [4, 6, 4, 1, 4, 0], sparse: [2, 3, 2, 1, 2, 0] } as const;
const READS_BEFORE = { extra: [0, 1, 1, 0, 1], sparse: [0, 0, 0, 0, 0] } as const;

async function measure(register: SensorRegister, count: ReturnType<typeof countUnits>): Promise<readonly Units[]> {
  for (let at = 0; at < SENSORS; at += 1) {
    const room = String(301 + (at % 20));
    await register.create({ id: `baltyk-3-${room}-${at}`, name: `Temperature in ${room}`, place: [...FLOOR, room] });
  }
  const list = await count(async () => {
    const { sensors, next } = await register.sensorsIn(FLOOR, { limit: SENSORS + 1 });
    if (sensors.length !== SENSORS || next !== undefined) throw new Error(`${sensors.length} sensors were listed`);
  });
  const id = 'baltyk-4-401-0';
  return [
    await count(() => register.create({ id, name: 'Temperature in 401', place: ['Poznań', 'Bałtyk', '4', '401'] })),
    await count(() => register.move(id, ['Poznań', 'Bałtyk', '4', '402'])),
    await count(() => register.rename(id, 'Temperature by the window')),
    await count(() => register.calibrate(id, '2026-11-21')),
    await count(() => register.remove(id)),
    list,
  ];
}

const same = (a: readonly number[], b: readonly number[]) =>
  a.length === b.length && a.every((one, at) => one === b[at]);
const written = (units: readonly Units[]) => units.map(({ writeUnits }) => writeUnits);
const read = (units: readonly Units[]) => units.map(({ readUnits }) => readUnits);
const listOf = (values: readonly number[]) => values.map((value) => shown(value, value % 1 === 0 ? 0 : 1)).join(', ');

/** The cost of two ways to find items by their place in a hierarchy, counted call by call. */
export const hierarchies: Benchmark = {
  name: 'hierarchies',
  hasCounts: true,
  async run({ say }): Promise<Section> {
    const engine = await startEngine({ dataDir: null });
    const { endpoint, region, credentials } = engine;
    const tables = { entities: 'unused', derived: 'unused' };
    const { client } = createDatabase({ endpoint, region, credentials, tables, keyStyle: 'readable' });
    try {
      const count = countUnits(client);
      await client.send(new CreateTableCommand(extraItemTable('extra-item')));
      await client.send(new CreateTableCommand(sparseIndexTable('sparse-index')));
      const extra = await measure(extraItemRegister(client, 'extra-item'), count);
      const sparse = await measure(sparseIndexRegister(client, 'sparse-index'), count);
      say(
        `calls: ${listOf(sparse.map(({ calls }) => calls))}, with an extra item ${listOf(extra.map(({ calls }) => calls))}`,
      );
      say(
        `write units: ${listOf(written(sparse))}, with an extra item ${listOf(written(extra))} by AWS's rule for transactions; ` +
          `reported for it: ${listOf(extra.map(({ reportedWriteUnits }) => reportedWriteUnits))}`,
      );
      const [extraList = 0, sparseList = 0] = [extra, sparse].map((units) => units.at(-1)?.readUnits);
      return {
        title: 'Place hierarchies: an extra item or a sparse index',
        rows: [
          {
            what: `write units of a sparse index: ${OPERATIONS.slice(0, -1).join(', ')}`,
            bar: `${listOf(WRITES_BY_RULE.sparse.slice(0, -1))}: AWS's rules`,
            measured: listOf(written(sparse).slice(0, -1)),
            against: `an extra item: ${listOf(written(extra).slice(0, -1))}`,
            holds: same(written(sparse), WRITES_BY_RULE.sparse) && same(written(extra), WRITES_BY_RULE.extra),
          },
          {
            what: 'read units before the same writes',
            bar: 'none',
            measured: listOf(read(sparse).slice(0, -1)),
            against: `an extra item: ${listOf(read(extra).slice(0, -1))}`,
            holds:
              same(read(sparse).slice(0, -1), READS_BEFORE.sparse) &&
              same(read(extra).slice(0, -1), READS_BEFORE.extra),
          },
          {
            what: `read units of a list of ${SENSORS} sensors, one Query`,
            bar: 'fewer than an extra item read consistently',
            measured: shown(sparseList),
            against: `an extra item: ${shown(extraList)}, or ${shown(extraList / 2)} read as an index is`,
            holds: sparse.at(-1)?.calls === 1 && extra.at(-1)?.calls === 1 && sparseList < extraList,
          },
        ],
        text: undefined,
      };
    } finally {
      client.destroy();
      await engine.close();
    }
  },
};
