import { callApi, type Connection, type ShownProject } from "./connection.ts";

/**
 * Checks that the projects that `--project` names exist; `*` stands for all. Throws RequestRefused
 * (`not_found`): the command fails with exit code 1, and is not wrong usage.
 */
export async function requireProjects(
  connection: Connection,
  projects: readonly string[] | null,
): Promise<void> {
  for (const id of projects ?? []) {
    if (id === "*") continue;
    await callApi<ShownProject>(connection, "GET", `/v1/projects/${encodeURIComponent(id)}`);
  }
}
