import type { Sql } from "../../db/sql.ts";
import { Problem } from "../../problem.ts";

/** A kind of what people save under slugs of a project: its table, its name in texts, and the most of it. */
export interface SavedKind {
  readonly table: string;
  readonly one: string;
  readonly many: string;
  readonly countMax: number;
}

/**
 * Whether the project has none with this slug yet; called after `holdProject`. Throws `conflict` if it would be
 * one too many, and `already_exists` if there is one and the request is only for a new one, so that two people
 * who choose the same name at the same time do not replace each other's.
 */
export async function makeRoom(
  tx: Sql,
  { table, one, many, countMax }: SavedKind,
  { projectId, slug, isNewOnly }: {
    readonly projectId: number;
    readonly slug: string;
    readonly isNewOnly: boolean;
  },
): Promise<boolean> {
  const [known] = await tx.query<{ same: number; others: number }>(
    `SELECT count(*) FILTER (WHERE slug = $2::text) AS same,
      count(*) FILTER (WHERE slug <> $2::text) AS others
    FROM ${table} WHERE project_id = $1::int`,
    [projectId, slug],
  );
  const isNew = known!.same === 0;
  if (!isNew && isNewOnly) {
    throw new Problem(
      "already_exists",
      `The project has another ${one} of the slug ${slug}. Use one that is free.`,
    );
  }
  if (isNew && known!.others >= countMax) {
    throw new Problem(
      "conflict",
      `A project has at most ${countMax} ${many}. Delete one that is not needed any more.`,
    );
  }
  return isNew;
}
