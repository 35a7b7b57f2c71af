/**
 * Waits until `work` has settled, at most `msMax`. Never throws: `work` continues in the background, where
 * its failure is logged.
 */
export async function settledWithin(work: Promise<void>, msMax: number): Promise<void> {
  const { promise: late, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, msMax);
  await Promise.race([work.catch(() => {}), late]);
  clearTimeout(timer);
}
