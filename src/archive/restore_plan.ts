import { z } from "zod";
import { moveDigests } from "../auth/zone_change.ts";
import { holdProject } from "../db/held_project.ts";
import { arrayLiteral, type Sql } from "../db/sql.ts";
import { MIGRATIONS } from "../db/migrations.ts";
import { nounOf } from "../number_words.ts";
import { Problem } from "../problem.ts";
import { archivedTable } from "./archived_tables.ts";
import { type RestoredRows, restoreRows } from "./restored_rows.ts";

const ID_LENGTH_MAX = 200;
const PROJECTS_MAX = 100_000;

/** The id of an archive, or of a project in it. */
export const ArchivedId = z.string().min(1).max(ID_LENGTH_MAX);

/** Body of `POST /v1/restorations`: which archive to restore, and as which projects. */
export const RestorationWanted = z.strictObject({
  archive: ArchivedId,
  schema: z.int().min(1),
  projects: z.array(z.strictObject({
    id: ArchivedId,
    as: z.string().regex(/^[A-Za-z0-9_-]{1,64}$/, "Use letters, digits, _ and -, at most 64."),
  })).max(PROJECTS_MAX),
  dryRun: z.boolean().default(false),
}).meta({ id: "RestorationWanted" });
type RestorationWanted = z.output<typeof RestorationWanted>;

/**
 * Its reply. `found` is what exists under the id: nothing, a project without events (which takes the archive's
 * settings), or a project that an earlier run of the same archive began.
 */
export const RestorationPlanned = z.object({
  projects: z.array(z.object({
    id: z.string(),
    as: z.string(),
    found: z.enum(["nothing", "empty", "begun"]),
  })),
}).meta({ id: "RestorationPlanned" });
export type PlannedProject = z.output<typeof RestorationPlanned>["projects"][number];

const PROJECT = `
SELECT p.project_id, s.value AS archive,
  EXISTS (SELECT FROM event_ids e WHERE e.project_id = p.project_id) AS has_events
FROM projects p LEFT JOIN settings s ON s.name = 'restored:' || p.public_id
WHERE p.public_id = $1::text`;

interface FoundProject extends Record<string, unknown> {
  readonly project_id: number;
  /** The archive that it was restored from; null: none. */
  readonly archive: string | null;
  readonly has_events: boolean;
}

async function findProject(sql: Sql, id: string): Promise<FoundProject | null> {
  return (await sql.query<FoundProject>(PROJECT, [id]))[0] ?? null;
}

/**
 * Returns what restoring would do. Throws `conflict` if a project with events exists that was not restored from
 * the same archive, or if the archive is of a later version.
 */
export async function planRestore(
  sql: Sql,
  wanted: RestorationWanted,
): Promise<PlannedProject[]> {
  const schema = MIGRATIONS.at(-1)!.version;
  if (wanted.schema > schema) {
    throw new Problem(
      "conflict",
      `The archive was made by a newer version of Footfall (schema ${wanted.schema}; this one has ` +
        `${schema}). Restore it with that version, or a later one.`,
    );
  }
  const planned: PlannedProject[] = [];
  const inTheWay: string[] = [];
  for (const { id, as } of wanted.projects) {
    const existing = await findProject(sql, as);
    if (existing === null) planned.push({ id, as, found: "nothing" });
    else if (existing.archive === wanted.archive) planned.push({ id, as, found: "begun" });
    else if (!existing.has_events) planned.push({ id, as, found: "empty" });
    else inTheWay.push(as);
  }
  if (inTheWay.length > 0) {
    throw new Problem(
      "conflict",
      `There ${nounOf(inTheWay.length, "is a project", "are projects")} with events already: ` +
        `${inTheWay.join(", ")}. Restore an archive of one project beside it with --project and ` +
        "a new id.",
    );
  }
  return planned;
}

/** Notes which archive these projects are restored from, so that a second run continues with them. */
export async function noteRestore(sql: Sql, wanted: RestorationWanted): Promise<void> {
  await sql.query(
    `INSERT INTO settings (name, value)
    SELECT 'restored:' || id, $2::text FROM unnest($1::text::text[]) AS id
    ON CONFLICT (name) DO UPDATE SET value = excluded.value`,
    [arrayLiteral(wanted.projects.map(({ as }) => as)), wanted.archive],
  );
}

function notBeingRestored(): Problem {
  return new Problem("not_found", "This archive is not being restored as this project.");
}

/** Returns the number of a project that this archive is being restored as. Throws `not_found`. */
export async function restoredProject(sql: Sql, archive: string, id: string): Promise<number> {
  const existing = await findProject(sql, id);
  if (existing?.archive === archive) return existing.project_id;
  throw notBeingRestored();
}

const TAKE_OVER = `
UPDATE projects p SET (name, site_url, site_url_by_operator, timezone, allowed_origins, ip_storage,
  retention_days) = (w.name, w.site_url, w.site_url_by_operator, w.timezone, w.allowed_origins,
  w.ip_storage, w.retention_days)
FROM jsonb_populate_record(NULL::projects, $2::text::jsonb) w
WHERE p.project_id = $1::int AND NOT EXISTS (
  SELECT FROM event_ids e WHERE e.project_id = p.project_id)
RETURNING p.timezone`;

/** Makes the project that an archive's project is restored as. If it exists without events, it takes the settings. */
export async function restoreProject(
  sql: Sql,
  archive: string,
  as: string,
  row: string,
): Promise<RestoredRows> {
  const own = { ...JSON.parse(row) as Record<string, unknown>, public_id: as };
  const existing = await findProject(sql, as);
  if (existing === null) {
    return await restoreRows(sql, archivedTable("projects")!, null, [JSON.stringify(own)]);
  }
  if (existing.archive !== archive) throw notBeingRestored();
  const { project_id } = existing;
  await sql.transaction(async (tx) => {
    const before = await holdProject(tx, project_id);
    const params = [project_id, JSON.stringify(own)];
    const [taken] = await tx.query<{ timezone: string }>(TAKE_OVER, params);
    if (taken !== undefined) await moveDigests(tx, project_id, before, taken.timezone);
  });
  return { added: 0, same: 1, left: [] };
}
