/**
 * Calls `work` for each project, one after the other. The failure of one does not stop the others; failures
 * are thrown at the end.
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
