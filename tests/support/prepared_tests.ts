/**
 * Tells how a file registers its tests where each begins with the same. A hook of the runner would run before the
 * tests of all files that the same entry runs.
 */
export function testsAfter(
  prepare: () => Promise<void>,
): (name: string, fn: (t: Deno.TestContext) => Promise<void> | void) => void {
  return (name, fn) =>
    Deno.test(name, async (t) => {
      await prepare();
      await fn(t);
    });
}
