import { expect, test } from 'vitest';

import { Budget } from '../../src/loaders/budget.js';
import { partitionRange } from '../../src/pages/directory.js';
import { findMarkers } from '../../src/read/find-markers.js';
import { makeCollection, requestContext, type Made } from '../map/fixture.js';
import { memoryDatabase } from '../support/memory-store.js';
import { randomFrom } from '../support/random.js';
import { variants } from '../support/rounds.js';

test('a search of many parts of the directory ends, however few calls it may make', async () => {
  const database = memoryDatabase();
  const random = randomFrom(3);
  const made = Array.from({ length: 3_000 }, (_, index): Made => {
    const position = { lng: 44 * random(), lat: 44 * random() };
    return { key: `m${index}`, position, category: 'x', properties: {} };
  });
  const collection = await makeCollection(database, { key: 'c' }, made, { mostBytes: 700, mostHints: 1 });
  const query = { collection, cover: [partitionRange('s')], accept: () => true, wanted: 2_500 };
  const budgets = Array.from({ length: 13 }, (_, index) => index + 1);
  for (const calls of variants(budgets, 4)) {
    const { context } = requestContext(database);
    let turns = 0;
    const turn = async () => {
      turns += 1;
      if (turns > 3_000) throw new Error(`endless with ${calls} calls`);
      await context.turn();
    };
    const search = findMarkers({ ...context, turn }, { ...query, budget: new Budget(calls, 20_000) });
    await expect(search).resolves.toHaveProperty('found');
  }
});
