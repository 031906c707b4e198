import { afterEach, beforeEach, expect, test, vi } from 'vitest';

import { ViewportError } from '../../src/client/public.js';
import { createConnection } from '../../web/map/api/connection.js';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function newConnection() {
  const said: (string | undefined)[] = [];
  const onDead = vi.fn();
  const onStale = (why: string | undefined) => void (why === said.at(-1) || said.push(why));
  return { said, onDead, set: createConnection({ onStale, onDead }) };
}

const unreachable = new ViewportError('/graphql does not respond', 'UNAVAILABLE');

test('a server that is busy or gone is named until it answers, also while its answer is awaited', () => {
  const { said, set } = newConnection();
  set({ loading: false, error: new ViewportError('DynamoDB did not answer in time', 'UNAVAILABLE') });
  set({ loading: true, error: unreachable });
  set({ loading: false, error: unreachable });
  set({ loading: true, error: null });
  vi.advanceTimersByTime(5_000);
  expect(said).toEqual(['Server busy, trying again', 'Offline, trying again']);
  set({ loading: false, error: null });
  vi.advanceTimersByTime(1_000);
  expect(said.at(-1)).toBeUndefined();
  set({ loading: false, error: new ViewportError('zoom: 99 is too large', 'BAD_USER_INPUT') });
  expect(said.at(-1)).toBeUndefined();
});

test('requests without an answer are sent again after waits that grow', () => {
  const { said, onDead, set } = newConnection();
  set({ loading: true, error: null });
  const sentAgainAt: number[] = [];
  const began = Date.now();
  // The page connects anew: for a moment, nothing is loading.
  onDead.mockImplementation(() => {
    sentAgainAt.push((Date.now() - began) / 1_000);
    set({ loading: false, error: null });
    set({ loading: true, error: null });
  });
  vi.advanceTimersByTime(200_000);
  expect(sentAgainAt).toEqual([30, 80, 170]);
  expect(said).toEqual(['No answer yet', 'Offline, trying again']);
  set({ loading: false, error: null });
  vi.advanceTimersByTime(1_000);
  expect(said.at(-1)).toBeUndefined();
});
