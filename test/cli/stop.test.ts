import { afterEach, expect, test, vi } from 'vitest';

import { onStop } from '../../src/cli/session.js';

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

test('a signal that arrives twice stops cleanly; another one later ends the process', () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  const exit = vi.spyOn(process, 'exit').mockReturnValue(undefined as never);
  const others = process.listeners('SIGTERM');
  const handling = onStop(() => undefined);
  const [stop] = process.listeners('SIGTERM').filter((each) => !others.includes(each));
  stop?.('SIGTERM');
  expect(handling.signal.reason).toMatchObject({ message: 'cellport: stopped by SIGTERM' });
  vi.advanceTimersByTime(500);
  stop?.('SIGTERM');
  expect(exit).not.toHaveBeenCalled();
  vi.advanceTimersByTime(600);
  stop?.('SIGTERM');
  expect(exit).toHaveBeenCalledWith(1);
  handling.release();
});

test.each(['unhandledRejection', 'uncaughtException'] as const)(
  'an error that nothing handles (%s) is passed on and stops the work; if that does not end, the process does',
  (name) => {
    vi.useFakeTimers({ toFake: ['setTimeout'] });
    const exit = vi.spyOn(process, 'exit').mockReturnValue(undefined as never);
    const others: readonly unknown[] = process.rawListeners(name);
    const onError = vi.fn();
    const handling = onStop(onError);
    const [fail] = process.rawListeners(name).filter((each) => !others.includes(each));
    const error = new Error('nobody waits for this');
    fail?.(error);
    expect(onError).toHaveBeenCalledWith(error);
    expect(handling.signal.reason).toBe(error);
    expect(exit).not.toHaveBeenCalled();
    vi.advanceTimersByTime(60_000);
    expect(exit).toHaveBeenCalledWith(1);
    handling.release();
    expect(process.rawListeners(name)).toEqual(others);
  },
);
