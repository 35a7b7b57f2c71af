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

/** The project that a start provisions. A member that is null is left unchanged. */
export interface DefaultProject {
  readonly id: string;
  readonly name: string | null;
  readonly siteUrl: string | null;
  readonly timezone: string | null;
  /** A public key of the operator's own. */
  readonly apiKey: string | null;
}

export interface Provisioned {
  /** A new public key, if the project had no key and none was given. */
  readonly firstKey: string | null;
  /** Whether the given key was stored by this call. */
  readonly isGivenKeyNew: boolean;
  /** Why the given key does not work, to be logged. */
  readonly warning: string | null;
}

/** What the database is opened for. */
export type ProvisionPurpose = "serve" | "command";

export const UNCHANGED: Provisioned = { firstKey: null, isGivenKeyNew: false, warning: null };

/** Who did it, in the audit, if the configuration asked for it. */
export const BY_START = { who: "the server's start", from: null } as const;

async function createPublicKey(
  sql: Sql,
  wanted: { projectId: number; label: string; nowMs: number; key?: string },
): Promise<string> {
  const made = await createKey(sql, { ...wanted, kind: "public", expiresAt: null });
  const { projectId } = wanted;
  await recordAudit(sql, { ...BY_START, what: "key.create", subject: keyName(made), projectId });
  return made.key;
}

/** Makes the default project if it is missing, and sets the given values. @returns its number */
async function ensureProject(
  sql: Sql,
  creation: NewProject,
  id: string,
  patch: ProjectPatch,
): Promise<number> {
  const lock = () =>
    sql.query("SELECT FROM projects WHERE public_id = $1::text FOR NO KEY UPDATE", [id]);
  const made = (await lock()).length === 0 ? await insertProject(sql, creation) : null;
  // If another server was faster, this waits for its row to be committed.
  await lock();
  const stored = made ?? await requireProject(sql, id);
  const { projectId } = stored;
  const project = await patchProject(sql, id, patch, true);
  const subject = made === null ? changeOfProject(stored, project) : projectName(project);
  const what = made === null ? "project.change" : "project.create";
  if (subject !== null) await recordAudit(sql, { ...BY_START, what, subject, projectId });
  return projectId;
}

interface KnownKey extends Record<string, unknown> {
  readonly project_id: number;
  readonly kind: KeyKind;
  readonly revoked: boolean;
  readonly expired: boolean;
  /** Whether the key itself is stored. Earlier versions stored only the hash of a public key, too. */
  readonly whole: boolean;
}

async function knownKey(sql: Sql, key: string, nowMs: number): Promise<KnownKey | undefined> {
  const [known] = await sql.query<KnownKey>(
    `SELECT project_id, kind, revoked_at IS NOT NULL AS revoked,
      coalesce(expires_at <= $2::text::timestamptz, false) AS expired, key IS NOT NULL AS whole
    FROM api_keys WHERE key_hash = $1::text::bytea`,
    [keyHash(key), new Date(nowMs).toISOString()],
  );
  return known;
}

/** Makes sure that `key` is one of the project's. */
async function ensureKey(
  sql: Sql,
  projectId: number,
  key: string,
  nowMs: number,
): Promise<Provisioned> {
  const known = await knownKey(sql, key, nowMs);
  if (known === undefined) {
    await createPublicKey(sql, { projectId, label: "DEFAULT_API_KEY", nowMs, key });
    return { ...UNCHANGED, isGivenKeyNew: true };
  }
  // Completes a key of an earlier version, which stored only its hash.
  if (!known.whole && known.kind === "public") {
    await sql.query(
      `UPDATE api_keys SET key = $2::text
      WHERE project_id = $1::int AND key_hash = $3::text::bytea`,
      [known.project_id, key, keyHash(key)],
    );
  }
  const warned = (warning: string) => ({ ...UNCHANGED, warning });
  if (known.kind === "secret") {
    return warned("DEFAULT_API_KEY is a secret key and stays so: browsers may not send it");
  }
  if (known.project_id !== projectId) return warned("DEFAULT_API_KEY is a key of another project");
  if (known.revoked) return warned("DEFAULT_API_KEY has been revoked and stays so");
  return known.expired ? warned("DEFAULT_API_KEY has expired and stays so") : UNCHANGED;
}

/** The given values, as a change of the project and as its creation. Throws `invalid_body`. */
function wantedProject({ id, name, siteUrl, timezone }: DefaultProject) {
  const given = Object.entries({ name, siteUrl, timezone }).filter(([, value]) => value !== null);
  const patch = parseBody(ProjectChange, Object.fromEntries(given));
  const creation = parseBody(ProjectCreation, { name: "Default", ...patch, id });
  return { patch, creation, isGiven: given.length > 0 };
}

/**
 * Sets the given values of the default project, for a command. Makes it only if there is no project at all, as
 * before the first start; that start then makes its first key, and shows it. Throws `invalid_body`.
 */
export async function provisionForCommand(
  sql: Sql,
  wanted: DefaultProject,
): Promise<Provisioned> {
  const { patch, creation, isGiven } = wantedProject(wanted);
  const projects = await listProjects(sql, "*");
  const isKnown = projects.some(({ id }) => id === wanted.id);
  if (isKnown ? !isGiven : projects.length > 0) return UNCHANGED;
  return await sql.transaction(async (inside) => {
    await ensureProject(inside, creation, wanted.id, patch);
    return UNCHANGED;
  });
}

/** Whether the project exists, with the given key, or any if none is given. Writes nothing. */
async function isProvisioned(
  sql: Sql,
  { id, apiKey }: DefaultProject,
  nowMs: number,
): Promise<boolean> {
  const [project] = await listProjects(sql, [id]);
  if (project === undefined) return false;
  if (apiKey === null) return (await listKeys(sql, project.projectId, nowMs)).length > 0;
  const key = await knownKey(sql, apiKey, nowMs);
  return key?.project_id === project.projectId && key.kind === "public" && key.whole &&
    !key.revoked && !key.expired;
}

/**
 * Makes the default project if it is missing, and sets the given values. It locks the project's row, so servers
 * that start together do it once. Throws `invalid_body`.
 */
export async function provisionDefaultProject(
  sql: Sql,
  wanted: DefaultProject,
  nowMs: number,
): Promise<Provisioned> {
  const { id, apiKey } = wanted;
  const { patch, creation, isGiven } = wantedProject(wanted);
  // Usually there is nothing to write, which takes only two statements to find out.
  if (!isGiven && await isProvisioned(sql, wanted, nowMs)) return UNCHANGED;
  return await sql.transaction(async (inside) => {
    const projectId = await ensureProject(inside, creation, id, patch);
    if (apiKey !== null) return await ensureKey(inside, projectId, apiKey, nowMs);
    const keys = await listKeys(inside, projectId, nowMs);
    if (keys.length > 0) return UNCHANGED;
    const firstKey = await createPublicKey(inside, { projectId, label: "First key", nowMs });
    return { ...UNCHANGED, firstKey };
  });
}
