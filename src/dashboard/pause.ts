/// <reference lib="dom" />

/** Resolves after `ms` milliseconds or when `signal` aborts; the caller checks the signal then. */
export function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener("abort", () => (clearTimeout(timer), resolve()), { once: true });
  });
}
