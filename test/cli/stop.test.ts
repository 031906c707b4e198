import { afterEach, expect, test, vi } from 'vitest';

import { onStop } from '../../src/cli/stop.js';

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

test('a signal that arrives twice stops cleanly; another one later ends the process', () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  const exit = vi.spyOn(process, 'exit').mockReturnValue(undefined as never);
  const others = process.listeners('SIGTERM');
  const handling = onStop();
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
