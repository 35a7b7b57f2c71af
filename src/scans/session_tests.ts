import type { Row, Sql } from "../db/sql.ts";
import type { SessionFieldId } from "../query/filter_conditions.ts";
import { type Filter, isSessionField } from "../query/filters.ts";
import type { Scope } from "../query/selection.ts";
import { namedIds, passing } from "./named_ids.ts";

/** Which ids pass: 1 at each one's place. Null: all do. */
interface PassingIds {
  readonly traffics: Uint8Array | null;
  /** Sessions without a path have that of id 0. */
  readonly entryPaths: Uint8Array | null;
  readonly exitPaths: Uint8Array | null;
}

/** Which sessions pass, by where they came from, began and ended. */
export class SessionTest implements PassingIds {
  readonly traffics: Uint8Array | null;
  readonly entryPaths: Uint8Array | null;
  readonly exitPaths: Uint8Array | null;
  /** Whether what is in no session passes: it is nothing of what is wanted, and nothing of what is not. */
  readonly passesNone: boolean;

  constructor(ids: PassingIds, passesNone: boolean) {
    this.traffics = ids.traffics;
    this.entryPaths = ids.entryPaths;
    this.exitPaths = ids.exitPaths;
    this.passesNone = passesNone;
  }

  /** Whether a session of this traffic, and with these paths (0: none), passes. */
  passes(traffic: number, entryPath: number, exitPath: number): boolean {
    return (this.traffics === null || this.traffics[traffic] === 1) &&
      (this.entryPaths === null || this.entryPaths[entryPath] === 1) &&
      (this.exitPaths === null || this.exitPaths[exitPath] === 1);
  }
}

/** How far the ids of a project reach. */
interface IdReach extends Row {
  readonly term_max: number;
  readonly traffic_max: number;
}

const REACH = `
SELECT
  (SELECT coalesce(max(term_id), 0) FROM terms WHERE project_id = $1::int) AS term_max,
  (SELECT coalesce(max(traffic_id), 0) FROM traffic WHERE project_id = $1::int) AS traffic_max`;

/** What everything passes. */
const EVERY_SESSION = new SessionTest({ traffics: null, entryPaths: null, exitPaths: null }, true);

/**
 * The test of sessions that pass all filters on a session's fields; others are left out. Evaluated in
 * SQL over the tables that the ids stand for: `sql` must see the moment that the histories are of.
 */
export async function sessionTest(
  sql: Sql,
  scope: Pick<Scope, "projectId" | "siteHost">,
  filters: readonly Filter[],
): Promise<SessionTest> {
  const ofSession = filters.filter(({ field }) => isSessionField(field));
  if (ofSession.length === 0) return EVERY_SESSION;
  const [reach] = await sql.query<IdReach>(REACH, [scope.projectId]);
  const [named] = await namedIds(sql, scope, [ofSession]);
  const of = (id: SessionFieldId, max: number) =>
    passing(named!.filter(({ filter }) => filter.of === id), 0, max);
  const { term_max, traffic_max } = reach!;
  return new SessionTest(
    {
      traffics: of("traffic", traffic_max),
      entryPaths: of("entryPath", term_max),
      exitPaths: of("exitPath", term_max),
    },
    named!.every(({ filter }) => filter.negated),
  );
}
