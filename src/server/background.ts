/** Work that goes on until it is stopped. */
export interface Background {
  stop(): Promise<void>;
}

/** Starts work that ends when its signal is aborted. */
export function inBackground(work: (signal: AbortSignal) => Promise<unknown>): Background {
  const stopping = new AbortController();
  const running = work(stopping.signal);
  return {
    async stop() {
      stopping.abort();
      await running;
    },
  };
}
