/**
 * Does something for each of some projects, one after the other. A project that fails does not keep the
 * others from it: the failures are thrown once all had their turn.
 * @returns the sum of what `work` returns
 * @throws the failure; AggregateError where several projects failed
 */
export async function sumOfProjects(
  projectIds: readonly number[],
  work: (projectId: number) => Promise<number>,
): Promise<number> {
  const failures: unknown[] = [];
  let sum = 0;
  for (const projectId of projectIds) {
    try {
      sum += await work(projectId);
    } catch (error) {
      failures.push(error);
    }
  }
  if (failures.length === 1) throw failures[0];
  if (failures.length > 1) {
    const [first] = failures;
    const reason = first instanceof Error ? first.message : String(first);
    throw new AggregateError(failures, `${failures.length} projects failed; the first: ${reason}`);
  }
  return sum;
}
