/// <reference lib="dom" />

/** Resolves after `ms` milliseconds, or as soon as `signal` aborts: whoever waits asks it then. */
export function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener("abort", () => (clearTimeout(timer), resolve()), { once: true });
  });
}
