/** One call that is to come. */
export interface Alarm {
  /** Calls in so many ms, instead of what was set before. */
  set(ms: number): void;
  /** Calls in so many ms, unless a call comes earlier anyway. */
  within(ms: number): void;
  cancel(): void;
}

export function createAlarm(call: () => void): Alarm {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let due = Infinity;
  const cancel = () => {
    clearTimeout(timer);
    due = Infinity;
  };
  const set = (ms: number) => {
    cancel();
    due = Date.now() + ms;
    timer = setTimeout(() => {
      due = Infinity;
      call();
    }, ms);
  };
  return {
    set,
    within(ms) {
      if (Date.now() + ms < due) set(ms);
    },
    cancel,
  };
}
