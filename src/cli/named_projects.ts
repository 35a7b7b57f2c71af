import { callApi, type Connection, type ShownProject } from "./connection.ts";

/**
 * Makes sure that there are the projects that `--project` names; `*` is every one. Throws RequestRefused
 * (`not_found`): the command has failed, and was not mistyped.
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
