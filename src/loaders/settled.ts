/** The value of each promise, or the error with which it was rejected, once all are settled. */
export async function settled<Value>(promises: readonly (Value | Promise<Value>)[]): Promise<(Value | Error)[]> {
  return (await Promise.allSettled(promises)).map((one) => {
    if (one.status === 'fulfilled') return one.value;
    return one.reason instanceof Error ? one.reason : new Error('a read has failed', { cause: one.reason });
  });
}
