import { recordAudit } from "../audit/audit.ts";
import type { Sql } from "../db/sql.ts";
import { parseBody } from "../http/json_body.ts";
import { keyHash, type KeyKind } from "./keys.ts";
import {
  changeOfProject,
  insertProject,
  listProjects,
  type NewProject,
  patchProject,
  ProjectChange,
  ProjectCreation,
  projectName,
  type ProjectPatch,
  requireProject,
} from "./projects.ts";
import { createKey, keyName, listKeys } from "./stored_keys.ts";

/** The project that a start provisions. `null` leaves a member as it is. */
export interface DefaultProject {
  readonly id: string;
  readonly name: string | null;
  readonly siteUrl: string | null;
  readonly timezone: string | null;
  /** A public key of the operator's own. */
  readonly apiKey: string | null;
}

export interface Provisioned {
  readonly created: boolean;
  /** A new public key, where the project had no key at all and none was given. */
  readonly firstKey: string | null;
  /** Why the given key does not work, to be logged. */
  readonly warning: string | null;
}

/** The audit's word for what nobody asked for but the configuration. */
const BY_START = { who: "the server's start", from: null } as const;

async function createPublicKey(
  sql: Sql,
  wanted: { projectId: number; label: string; nowMs: number; key?: string },
): Promise<string> {
  const made = await createKey(sql, { ...wanted, kind: "public", expiresAt: null });
  const { projectId } = wanted;
  await recordAudit(sql, { ...BY_START, what: "key.create", subject: keyName(made), projectId });
  return made.key;
}

/** The default project, made if it is missing and brought to the values that are given. */
async function ensureProject(
  sql: Sql,
  creation: NewProject,
  id: string,
  patch: ProjectPatch,
): Promise<{ readonly created: boolean; readonly projectId: number }> {
  const lock = () => sql.query("SELECT FROM projects WHERE public_id = $1::text FOR UPDATE", [id]);
  const made = (await lock()).length === 0 ? await insertProject(sql, creation) : null;
  // Where another server's insert was faster, its row is committed by now.
  await lock();
  const stored = made ?? await requireProject(sql, id);
  const { projectId } = stored;
  const project = await patchProject(sql, id, patch, true);
  const subject = made === null ? changeOfProject(stored, project) : projectName(project);
  const what = made === null ? "project.change" : "project.create";
  if (subject !== null) await recordAudit(sql, { ...BY_START, what, subject, projectId });
  return { created: made !== null, projectId };
}

/** Makes sure that `key` is one of the project's. Returns why it does not work, if so. */
async function ensureKey(
  sql: Sql,
  projectId: number,
  key: string,
  nowMs: number,
): Promise<string | null> {
  const [known] = await sql.query<
    { project_id: number; kind: KeyKind; revoked: boolean; expired: boolean }
  >(
    `SELECT project_id, kind, revoked_at IS NOT NULL AS revoked,
      coalesce(expires_at <= $2::text::timestamptz, false) AS expired
    FROM api_keys WHERE key_hash = $1::text::bytea`,
    [keyHash(key), new Date(nowMs).toISOString()],
  );
  if (known === undefined) {
    await createPublicKey(sql, { projectId, label: "DEFAULT_API_KEY", nowMs, key });
    return null;
  }
  // Of one that was made before they were kept whole, this is the moment to do it.
  await sql.query(
    `UPDATE api_keys SET key = $2::text
    WHERE project_id = $1::int AND key_hash = $3::text::bytea AND key IS NULL AND kind = 'public'`,
    [known.project_id, key, keyHash(key)],
  );
  if (known.kind === "secret") {
    return "DEFAULT_API_KEY is a secret key and stays so: browsers may not send it";
  }
  if (known.project_id !== projectId) return "DEFAULT_API_KEY is a key of another project";
  if (known.revoked) return "DEFAULT_API_KEY has been revoked and stays so";
  return known.expired ? "DEFAULT_API_KEY has expired and stays so" : null;
}

/**
 * Makes the default project if it is missing, and brings it to the values that are given. Servers
 * that start together do it once: the project's row is locked meanwhile. Throws `invalid_body`.
 */
export async function provisionDefaultProject(
  sql: Sql,
  wanted: DefaultProject,
  nowMs: number,
): Promise<Provisioned> {
  const { id, apiKey } = wanted;
  const given = Object.entries({
    name: wanted.name,
    siteUrl: wanted.siteUrl,
    timezone: wanted.timezone,
  }).filter(([, value]) => value !== null);
  const patch = parseBody(ProjectChange, Object.fromEntries(given));
  if (given.length === 0 && apiKey === null) {
    const [known] = await listProjects(sql, [id]);
    const keys = known && await listKeys(sql, known.projectId, nowMs);
    // As a rule, for which nothing has to be written.
    if (keys !== undefined && keys.length > 0) {
      return { created: false, firstKey: null, warning: null };
    }
  }
  const creation = parseBody(ProjectCreation, { name: "Default", ...patch, id });
  return await sql.transaction(async (inside) => {
    const { created, projectId } = await ensureProject(inside, creation, id, patch);
    if (apiKey !== null) {
      const warning = await ensureKey(inside, projectId, apiKey, nowMs);
      return { created, firstKey: null, warning };
    }
    const keys = await listKeys(inside, projectId, nowMs);
    if (keys.length > 0) return { created, firstKey: null, warning: null };
    const firstKey = await createPublicKey(inside, { projectId, label: "First key", nowMs });
    return { created, firstKey, warning: null };
  });
}
