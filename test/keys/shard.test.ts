import { expect, test } from 'vitest';

import { shardOf } from '../../src/keys/shard.js';

test('the shard of a key never changes: a re-import must find the existing copy', () => {
  // FNV-1a of 32 bits, whose published values for these are 0xe40c292c and 0xbf9cf968.
  expect(['a', 'foobar'].map((key) => shardOf(key, 1000))).toEqual([0xe40c292c % 1000, 0xbf9cf968 % 1000]);
  expect(shardOf('Poznań', 1000)).toBe(858);
});

test('consecutive keys are spread evenly', () => {
  for (const shards of [2, 3, 4, 8, 16]) {
    const sizes = Array.from({ length: shards }, () => 0);
    for (let number = 0; number < 16_000; number++) {
      const shard = shardOf(`city-${number}`, shards);
      sizes[shard] = (sizes[shard] ?? 0) + 1;
    }
    expect(Math.max(...sizes) / (16_000 / shards)).toBeLessThan(1.1);
  }
});
