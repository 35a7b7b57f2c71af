/** Resolves after `ms` milliseconds, or when `signal` aborts: the caller must check it. */
export function pause(ms: number, signal?: AbortSignal): Promise<void> {
  if (signal?.aborted) return Promise.resolve();
  const { promise, resolve } = Promise.withResolvers<void>();
  const end = () => {
    clearTimeout(timer);
    signal?.removeEventListener("abort", end);
    resolve();
  };
  const timer = setTimeout(end, ms);
  signal?.addEventListener("abort", end);
  return promise;
}
