import { keyedRow } from "../db/keyed_rows.ts";
import { arrayLiteral, arrayLiterals, type Row, type Sql } from "../db/sql.ts";
import { isEarlier } from "../store/anonymous_ids.ts";
import type { EventColumns } from "../store/event_columns.ts";
import type { EventRow } from "../store/event_row.ts";
import { KNOWN_TEXTS_MAX } from "./projection_limits.ts";

/** The kind of an identity: a user id (u), an anonymous id (a), else a daily hash (h). */
type Kind = "u" | "a" | "h";

export interface Identity {
  readonly id: number;
  /** The identity itself, or the identity of the user that the anonymous id belongs to. */
  actor: number;
  /** The time of the earliest event that carries the anonymous id with a user id, which decides the user. */
  linkedMs: number | null;
  /** The id of that event. */
  linkedBy: string | null;
}

/** An anonymous id that now belongs to another actor. */
export interface Move {
  readonly identity: number;
  readonly from: number;
  readonly to: number;
}

// A lateral lookup per name, because the planner has no statistics of a new project. The first row is the
// last assigned number, also of one that is gone.
const LOOK_UP = `
SELECT 0 AS n, greatest(max(identity_id), (
    SELECT removed_identity_id FROM projections WHERE project_id = $1::int), 0) AS id,
  0 AS actor, NULL::bigint AS "linkedMs", NULL::uuid AS "linkedBy"
FROM identities WHERE project_id = (SELECT $1::int)
UNION ALL
SELECT k.n::int, i.*
FROM unnest($2::text::"char"[], $3::text::text[]) WITH ORDINALITY AS k (kind, value, n)
CROSS JOIN LATERAL (
  SELECT identity_id, actor_id, linked_ms, linked_by FROM identities
  WHERE project_id = (SELECT $1::int) AND kind = k.kind AND value = k.value OFFSET 0) i`;

const ADD = `
INSERT INTO identities (project_id, identity_id, actor_id, linked_ms, linked_by, kind, value)
SELECT $1::int, a.* FROM unnest($2::text::int[], $3::text::int[], $4::text::int8[], $5::text::uuid[],
  $6::text::"char"[], $7::text::text[]) AS a`;

// Each row is looked up by its key, where an UPDATE may be planned to read all identities of the project. None is
// inserted: whoever links or erases holds the lock of the project's row of `projections`, so that they are there.
const LINK = `
INSERT INTO identities (project_id, identity_id, actor_id, linked_ms, linked_by, kind, value)
SELECT $1::int, a.*, own.kind, own.value
FROM unnest($2::text::int[], $3::text::int[], $4::text::int8[], $5::text::uuid[])
  AS a (identity_id, actor_id, linked_ms, linked_by)
CROSS JOIN ${keyedRow("identities v", "v.identity_id = a.identity_id", "$1::int")} AS own
ON CONFLICT (project_id, identity_id) DO UPDATE
SET actor_id = excluded.actor_id, linked_ms = excluded.linked_ms, linked_by = excluded.linked_by`;

/** Formats the visitor hash as it is shown and stored: in URL-safe Base64. */
function hashText({ visitor_hash }: Pick<EventRow, "visitor_hash">): string {
  return Uint8Array.fromHex(visitor_hash.slice(2))
    .toBase64({ alphabet: "base64url", omitPadding: true });
}

/** The columns that identify who did an event. */
export const NAME_COLUMNS = ["user_id", "anonymous_id", "visitor_hash"] as const;

/** Returns the name of an event's identity: the kind, then the value. */
export function nameOf(row: Pick<EventRow, (typeof NAME_COLUMNS)[number]>): string {
  if (row.user_id !== null) return `u${row.user_id}`;
  return row.anonymous_id === null ? `h${hashText(row)}` : `a${row.anonymous_id}`;
}

/** The event that links an anonymous id to a user: the earliest by time, then by id. */
interface Link {
  readonly user: string;
  readonly ms: number;
  readonly eventId: string;
}

/** Returns the links of the anonymous ids in a batch, by the identity's name. */
function linksOf(
  columns: EventColumns,
  times: Float64Array,
  eventIds: readonly string[],
): Map<string, Link> {
  const links = new Map<string, Link>();
  const anonymous = columns.texts("anonymous_id");
  const users = columns.texts("user_id");
  for (let i = 0; i < columns.length; i++) {
    if (anonymous.codes[i] === 0 || users.codes[i] === 0) continue;
    const name = `a${anonymous.values[anonymous.codes[i]! - 1]!}`;
    const user = `u${users.values[users.codes[i]! - 1]!}`;
    const link = { user, ms: times[i]!, eventId: eventIds[i]! };
    const known = links.get(name);
    if (known === undefined || isEarlier(link, known)) links.set(name, link);
  }
  return links;
}

/** A cache of the identities of one project. */
export class Identities {
  readonly #known = new Map<string, Identity>();

  /** The number of cached identities. */
  get entries(): number {
    return this.#known.size;
  }

  /** Whether the cache exceeds its limit. */
  get isFull(): boolean {
    return this.entries > KNOWN_TEXTS_MAX;
  }

  /** Finds the identity of each event, adds new ones, and links anonymous ids to users. */
  async resolve(
    tx: Sql,
    projectId: number,
    columns: EventColumns,
    times: Float64Array,
    eventIds: readonly string[],
  ) {
    const { codes, firsts } = columns.tuples(NAME_COLUMNS);
    const names = firsts.map((i) => nameOf(columns.membersAt(NAME_COLUMNS, i)));
    const links = linksOf(columns, times, eventIds);
    const missing = new Set<string>();
    for (const name of [...names, ...links.keys()]) {
      if (!this.#known.has(name)) missing.add(name);
    }
    const added = missing.size === 0 ? [] : await this.#lookUp(tx, projectId, [...missing]);
    const newActors = new Set(added.map(([, { id }]) => id));
    const { linked, moves } = this.#link(links, newActors);
    if (added.length > 0) {
      await tx.query(ADD, [
        projectId,
        ...linkColumns(added.map(([, identity]) => identity)),
        arrayLiteral(added.map(([name]) => name[0]!)),
        arrayLiteral(added.map(([name]) => name.slice(1))),
      ]);
    }
    await linkIdentities(tx, projectId, linked.filter(({ id }) => !newActors.has(id)));
    return {
      identities: names.map((name) => this.#known.get(name)!),
      /** Per event, the place of its identity among them. */
      codes,
      moves,
      /** Whether the actor of any identity changes, or the event that decides it; new identities count. */
      isLinked: linked.length > 0,
      /** Actors without any stored data so far. */
      newActors,
    };
  }

  /** Caches these identities. @returns the identities that are not stored yet, with new numbers */
  async #lookUp(
    tx: Sql,
    projectId: number,
    names: readonly string[],
  ): Promise<[name: string, Identity][]> {
    const rows = await tx.query<Identity & Row & { readonly n: number }>(LOOK_UP, [
      projectId,
      arrayLiteral(names.map((name) => name[0]!)),
      arrayLiteral(names.map((name) => name.slice(1))),
    ]);
    let last = 0;
    for (const { n, ...identity } of rows) {
      if (n === 0) last = identity.id;
      else this.#known.set(names[n - 1]!, identity);
    }
    const added: [string, Identity][] = [];
    for (const name of names) {
      if (this.#known.has(name)) continue;
      const identity = { id: ++last, actor: last, linkedMs: null, linkedBy: null };
      this.#known.set(name, identity);
      added.push([name, identity]);
    }
    return added;
  }

  /** Applies the links to the cached identities; `moves` holds the moves of identities stored before. */
  #link(links: ReadonlyMap<string, Link>, isNew: ReadonlySet<number>) {
    const linked: Identity[] = [];
    const moves: Move[] = [];
    for (const [name, link] of links) {
      const identity = this.#known.get(name)!;
      const { id, actor: from, linkedMs: ms, linkedBy: eventId } = identity;
      if (ms !== null && !isEarlier(link, { ms, eventId: eventId! })) continue;
      const to = this.#known.get(link.user)!.id;
      identity.actor = to;
      identity.linkedMs = link.ms;
      identity.linkedBy = link.eventId;
      linked.push(identity);
      if (from !== to && !isNew.has(id)) moves.push({ identity: id, from, to });
    }
    return { linked, moves };
  }
}

const linkColumns = (identities: readonly Identity[]): string[] =>
  arrayLiterals(["id", "actor", "linkedMs", "linkedBy"], identities);

/** Stores the actors of identities, and the events that decide them. */
export async function linkIdentities(
  tx: Sql,
  projectId: number,
  linked: readonly Identity[],
): Promise<void> {
  if (linked.length > 0) await tx.query(LINK, [projectId, ...linkColumns(linked)]);
}

/** Returns the actor of each identity that belongs to one of these actors. */
export async function identitiesOf(
  tx: Sql,
  projectId: number,
  actors: Iterable<number>,
): Promise<Map<number, number>> {
  const rows = await tx.query<{ identity_id: number; actor_id: number }>(
    `SELECT i.identity_id, i.actor_id
    FROM unnest($2::text::int[]) AS k (actor_id)
    CROSS JOIN LATERAL (
      SELECT identity_id, actor_id FROM identities
      WHERE project_id = (SELECT $1::int) AND identity_id = k.actor_id AND actor_id = identity_id
      UNION ALL
      SELECT identity_id, actor_id FROM identities
      WHERE project_id = (SELECT $1::int) AND actor_id = k.actor_id AND actor_id <> identity_id
      OFFSET 0) i`,
    [projectId, arrayLiteral([...actors])],
  );
  return new Map(rows.map(({ identity_id, actor_id }) => [identity_id, actor_id]));
}

/** Returns the actors of these identities. */
export async function actorsOf(
  tx: Sql,
  projectId: number,
  identities: Iterable<number>,
): Promise<Set<number>> {
  const rows = await tx.query<{ actor_id: number }>(
    `SELECT DISTINCT i.actor_id FROM unnest($2::text::int[]) AS k (identity_id)
    CROSS JOIN ${keyedRow("identities v", "v.identity_id = k.identity_id", "$1::int")} AS i`,
    [projectId, arrayLiteral([...identities])],
  );
  return new Set(rows.map(({ actor_id }) => actor_id));
}

/** Marks the caches of reads and of other servers as stale; to be called after an identity's actor has changed. */
export async function raiseLinksVersion(tx: Sql, projectId: number): Promise<number> {
  const [row] = await tx.query<{ links_version: number }>(
    `UPDATE projections SET links_version = links_version + 1 WHERE project_id = $1::int
    RETURNING links_version`,
    [projectId],
  );
  return row!.links_version;
}
