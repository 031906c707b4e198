import { CreateTableCommand } from '@aws-sdk/client-dynamodb';
import { beforeAll, describe, expect, test } from 'vitest';

import { extraItemRegister, extraItemTable } from '../../examples/sensors/extra-item.js';
import type { Sensor, SensorRegister } from '../../examples/sensors/register.js';
import { sparseIndexRegister, sparseIndexTable } from '../../examples/sensors/sparse-index.js';
import { randomFrom } from '../support/random.js';
import { recordCalls } from '../support/record-calls.js';
import { variants } from '../support/rounds.js';
import { newDatabase } from '../support/test-database.js';

const WAYS = [
  { way: 'an extra item', table: extraItemTable, open: extraItemRegister },
  { way: 'a sparse index', table: sparseIndexTable, open: sparseIndexRegister },
] as const;

async function listed(register: SensorRegister, ...place: readonly [string, ...string[]]): Promise<Sensor[]> {
  const found: Sensor[] = [];
  let after: Readonly<Record<string, unknown>> | undefined;
  do {
    const page = await register.sensorsIn(place, { limit: 3, after });
    found.push(...page.sensors);
    after = page.next;
  } while (after !== undefined);
  return found;
}

const ids = async (register: SensorRegister, ...place: readonly [string, ...string[]]) =>
  (await listed(register, ...place)).map(({ id }) => id).toSorted();

describe.each(variants(WAYS))('sensors at places by $way', ({ way, table, open }) => {
  const { client } = newDatabase();
  const calls = recordCalls({ client });
  const name = `sensors-${way.replaceAll(' ', '-')}`;
  const other = `${name}-in-parallel`;
  const register = open(client, name);
  beforeAll(async () => {
    for (const one of [name, other]) await client.send(new CreateTableCommand(table(one)));
  });

  test('are found at every level by whole names, in any Unicode normalization', async () => {
    const sensor = (id: string, ...place: string[]) => register.create({ id, name: `Sensor ${id}`, place });
    await sensor('1', 'Poznań', 'A', '1', '101');
    await sensor('2', 'Poznan\u0301', 'A', '1', '102');
    await sensor('3', 'Poznań', 'A', '12', '1201');
    await sensor('4', 'Poznań', 'A::1', '1');
    await sensor('5', 'Poznań', 'A');
    await sensor('6', 'Poznan', 'A', '1');
    await sensor('7');
    expect(await ids(register, 'Poznań')).toEqual(['1', '2', '3', '4', '5']);
    expect(await ids(register, 'Poznan')).toEqual(['6']);
    expect(await ids(register, 'Poznan\u0301', 'A')).toEqual(['1', '2', '3', '5']);
    expect(await ids(register, 'Poznań', 'A', '1')).toEqual(['1', '2']);
    expect(await listed(register, 'Poznań', 'A', '1', '102')).toEqual([
      { id: '2', name: 'Sensor 2', place: ['Poznań', 'A', '1', '102'] },
    ]);
    expect(await ids(register, 'Poznań', 'A', '2')).toEqual([]);
    expect(await register.find('7')).toEqual({ id: '7', name: 'Sensor 7', place: [] });
  });

  test('leave no stale entry when they are changed, moved, put into storage and back, or deleted', async () => {
    await register.create({ id: 'a', name: 'A', place: ['Berlin', 'D', '4'] });
    await register.rename('a', 'Aa');
    await register.calibrate('a', '2026-11-21');
    expect(await listed(register, 'Berlin')).toEqual([{ id: 'a', name: 'Aa', place: ['Berlin', 'D', '4'] }]);
    await register.move('a', ['Berlin', 'D', '5']);
    expect(await ids(register, 'Berlin', 'D', '4')).toEqual([]);
    expect(await ids(register, 'Berlin', 'D', '5')).toEqual(['a']);
    await register.move('a', []);
    expect(await ids(register, 'Berlin')).toEqual([]);
    await register.move('a', ['Gdańsk', 'X']);
    expect(await listed(register, 'Gdańsk')).toEqual([{ id: 'a', name: 'Aa', place: ['Gdańsk', 'X'] }]);
    await register.remove('a');
    expect([await ids(register, 'Gdańsk'), await register.find('a')]).toEqual([[], undefined]);
  });

  test('cannot be created twice, or changed if they do not exist', async () => {
    await register.create({ id: 'b', name: 'B', place: ['Kraków', 'A'] });
    await expect(register.create({ id: 'b', name: 'Other', place: ['Łódź'] })).rejects.toThrow(/condition/i);
    for (const change of [
      () => register.move('none', ['Łódź']),
      () => register.rename('none', 'N'),
      () => register.calibrate('none', 'now'),
      () => register.remove('none'),
    ]) {
      await expect(change()).rejects.toThrow(/condition|no sensor/i);
    }
    expect([await ids(register, 'Łódź'), await register.find('none')]).toEqual([[], undefined]);
    expect(await listed(register, 'Kraków')).toEqual([{ id: 'b', name: 'B', place: ['Kraków', 'A'] }]);
  });

  test('take one Query call per page, and one call per change, or a read and a transaction', async () => {
    await register.create({ id: 'c', name: 'C', place: ['Lublin', 'A'] });
    const sent = async (work: () => Promise<unknown>) => {
      calls.reset();
      await work();
      return calls.commands.map((command) => command.name.replace(/(Item)?s?(Command)?$/, ''));
    };
    const change = way === 'a sparse index' ? ['Update'] : ['Get', 'TransactWrite'];
    expect(await sent(() => register.move('c', ['Lublin', 'B']))).toEqual(change);
    expect(await sent(() => register.rename('c', 'Cc'))).toEqual(change);
    expect(await sent(() => register.calibrate('c', 'now'))).toEqual(['Update']);
    expect(await sent(() => register.sensorsIn(['Lublin', 'B'], { limit: 10 }))).toEqual(['Query']);
  });

  test('match their lists after concurrent clients have created, moved, renamed and deleted the same ones', async () => {
    const random = randomFrom(23);
    const pick = <T>(values: readonly T[]): T => values[Math.floor(random() * values.length)] as T;
    const cities = ['Poznań', 'Berlin', 'Paris'] as const;
    const place = () => [pick(cities), pick(['A', 'B', 'A::B']), pick(['1', '12'])].slice(0, Math.floor(random() * 4));
    const all = Array.from({ length: 8 }, (_, at) => `s${at}`);
    const clients = Array.from({ length: 6 }, () => open(client, other));
    let done = 0;
    await Promise.all(
      clients.map(async (one) => {
        for (let step = 0; step < 40; step += 1) {
          const id = pick(all);
          const what = random();
          const work =
            what < 0.3
              ? one.create({ id, name: `new ${step}`, place: place() })
              : what < 0.6
                ? one.move(id, place())
                : what < 0.8
                  ? one.rename(id, `renamed ${step}`)
                  : one.remove(id);
          // The name is taken, the item no longer exists, or there were too many conflicts: nothing may have changed.
          await work.then(
            () => (done += 1),
            () => undefined,
          );
        }
      }),
    );
    expect(done).toBeGreaterThan(60);
    const found = await Promise.all(all.map((id) => clients[0]!.find(id)));
    const there = found.filter((sensor) => sensor !== undefined);
    for (const city of cities) {
      const wanted = there.filter(({ place: [outermost] }) => outermost === city);
      expect((await listed(clients[0]!, city)).toSorted((a, b) => a.id.localeCompare(b.id))).toEqual(wanted);
      for (const building of ['A', 'B', 'A::B']) {
        const inside = wanted.filter((sensor) => sensor.place[1] === building).map(({ id }) => id);
        expect(await ids(clients[0]!, city, building)).toEqual(inside);
      }
    }
  });
});
