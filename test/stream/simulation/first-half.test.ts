import { test } from 'vitest';

import { SEEDS, expectPeace } from './seeds.js';

test('counts are exact, or say that they are not, after whatever the first half of the seeds brings', async () => {
  await expectPeace(0, SEEDS / 2);
}, 900_000);
