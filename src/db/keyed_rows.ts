/**
 * Returns a subquery, for CROSS or LEFT JOIN, of the row of a project that has a key, which may come from the rows before
 * it: it is looked up by the index of project and key. The planner may not choose, nor does it see which project it is:
 * it would take one that its statistics do not know for one without rows, and read them all for each key.
 * @param from the table with the alias v
 * @param key a condition on the columns of the index after `project_id`
 * @param project the parameter for the project's number
 */
export function keyedRow(from: string, key: string, project: string): string {
  return `LATERAL (SELECT v.* FROM ${from} WHERE v.project_id = (SELECT ${project}) AND ${key} OFFSET 0)`;
}

/**
 * Returns what follows FROM to read the rows `v` of a project that have one of many keys: see `keyedRow`.
 * @param from the table with the alias v
 * @param key a condition on the column of the index after `project_id`, such as `v.digest = wanted.key`
 * @param project the parameter for the project's number
 * @param keys the parameter for the array of keys
 */
export function keyedRows(from: string, key: string, project: string, keys: string): string {
  return `unnest(${keys}) AS wanted (key) CROSS JOIN ${keyedRow(from, key, project)} AS v`;
}
