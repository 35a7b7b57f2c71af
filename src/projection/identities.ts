import { arrayLiteral, type Sql } from "../db/sql.ts";
import type { EventColumns } from "../store/event_columns.ts";
import type { EventRow } from "../store/event_row.ts";
import { KNOWN_TEXTS_MAX } from "./projection_limits.ts";

/** What events say of who did them: a user id (u), an anonymous id (a), else a daily hash (h). */
type Kind = "u" | "a" | "h";

export interface Identity {
  readonly id: number;
  /** Itself, or the identity of the user that the anonymous id belongs to. */
  actor: number;
  /** The earliest event in which an anonymous id stands beside a user id: it decides whose it is. */
  linkedMs: number | null;
  linkedBy: string | null;
}

/** An anonymous id with another owner than before. */
export interface Move {
  readonly identity: number;
  readonly from: number;
  readonly to: number;
}

/** Who did the events of a batch. */
export interface Resolved {
  /** The different identities, and of each event which of them it is of. */
  readonly identities: readonly Identity[];
  readonly codes: Int32Array;
  readonly moves: readonly Move[];
  /** Whether an identity, new ones too, is another actor's now, or is so by an earlier event. */
  readonly isLinked: boolean;
  /** Actors of whom nothing was stored before. */
  readonly newActors: ReadonlySet<number>;
}

// Looked up one by one: of a fresh project the planner knows nothing. First the last number.
const LOOK_UP = `
SELECT 0 AS n, coalesce(max(identity_id), 0) AS identity_id, 0 AS actor_id,
  NULL::bigint AS linked_ms, NULL::uuid AS linked_by
FROM identities WHERE project_id = $1::int
UNION ALL
SELECT k.n::int, i.*
FROM unnest($2::text::"char"[], $3::text::text[]) WITH ORDINALITY AS k (kind, value, n)
CROSS JOIN LATERAL (
  SELECT identity_id, actor_id, linked_ms, linked_by FROM identities
  WHERE project_id = $1::int AND kind = k.kind AND value = k.value OFFSET 0) i`;

const ADD = `
INSERT INTO identities (project_id, identity_id, actor_id, linked_ms, linked_by, kind, value)
SELECT $1::int, a.* FROM unnest($2::text::int[], $3::text::int[], $4::text::int8[], $5::text::uuid[],
  $6::text::"char"[], $7::text::text[]) AS a`;

const LINK = `
UPDATE identities i SET actor_id = a.actor_id, linked_ms = a.linked_ms, linked_by = a.linked_by
FROM unnest($2::text::int[], $3::text::int[], $4::text::int8[], $5::text::uuid[])
  AS a (identity_id, actor_id, linked_ms, linked_by)
WHERE i.project_id = $1::int AND i.identity_id = a.identity_id`;

interface Found extends Record<string, unknown> {
  readonly n: number;
  readonly identity_id: number;
  readonly actor_id: number;
  readonly linked_ms: number | null;
  readonly linked_by: string | null;
}

/** The hash as it is told and stored: URL-safe Base64. */
export function hashText({ visitor_hash }: Pick<EventRow, "visitor_hash">): string {
  return Uint8Array.fromHex(visitor_hash.slice(2))
    .toBase64({ alphabet: "base64url", omitPadding: true });
}

const WHO = ["user_id", "anonymous_id", "visitor_hash"] as const;

/** What names whoever did an event: its kind, then its value. */
export function nameOf(row: Pick<EventRow, (typeof WHO)[number]>): string {
  if (row.user_id !== null) return `u${row.user_id}`;
  return row.anonymous_id === null ? `h${hashText(row)}` : `a${row.anonymous_id}`;
}

/** The event that links an anonymous id to a user: of several, the earliest by time, then by id. */
interface Link {
  readonly user: string;
  readonly ms: number;
  readonly eventId: string;
}

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
    const known = links.get(name);
    const [ms, eventId] = [times[i]!, eventIds[i]!];
    if (known === undefined || isEarlier(ms, eventId, known.ms, known.eventId)) {
      links.set(name, { user: `u${users.values[users.codes[i]! - 1]!}`, ms, eventId });
    }
  }
  return links;
}

const isEarlier = (ms: number, id: string, thanMs: number, thanId: string): boolean =>
  ms < thanMs || ms === thanMs && id < thanId;

/** The identities of one project, as far as they are known. */
export class Identities {
  readonly #known = new Map<string, Identity>();

  /** Whether more is kept than may be. */
  get isFull(): boolean {
    return this.#known.size > KNOWN_TEXTS_MAX;
  }

  /** Finds who did each event, adds who is new, and links anonymous ids to users. */
  async resolve(
    tx: Sql,
    projectId: number,
    columns: EventColumns,
    times: Float64Array,
    eventIds: readonly string[],
  ): Promise<Resolved> {
    const { codes, firsts } = columns.tuples(WHO);
    const names = firsts.map((i) => nameOf(columns.membersAt(WHO, i)));
    const links = linksOf(columns, times, eventIds);
    const missing = new Set<string>();
    for (const name of [...names, ...links.keys()]) {
      if (!this.#known.has(name)) missing.add(name);
    }
    const added = missing.size === 0 ? [] : await this.#lookUp(tx, projectId, [...missing]);
    const newActors = new Set(added.map(([, { id }]) => id));
    const { linked, moves } = this.#link(links, newActors);
    if (added.length > 0) await addAll(tx, projectId, added);
    const changed = linked.filter(({ id }) => !newActors.has(id));
    if (changed.length > 0) await tx.query(LINK, [projectId, ...linkColumns(changed)]);
    return {
      identities: names.map((name) => this.#known.get(name)!),
      codes,
      moves,
      isLinked: linked.length > 0,
      newActors,
    };
  }

  /** @returns those that are not stored yet, with numbers of their own */
  async #lookUp(
    tx: Sql,
    projectId: number,
    names: readonly string[],
  ): Promise<[name: string, Identity][]> {
    const rows = await tx.query<Found>(LOOK_UP, [
      projectId,
      arrayLiteral(names.map((name) => name[0]!)),
      arrayLiteral(names.map((name) => name.slice(1))),
    ]);
    let last = 0;
    for (const { n, identity_id, actor_id, linked_ms, linked_by } of rows) {
      if (n === 0) last = identity_id;
      else {
        const identity = {
          id: identity_id,
          actor: actor_id,
          linkedMs: linked_ms,
          linkedBy: linked_by,
        };
        this.#known.set(names[n - 1]!, identity);
      }
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

  #link(links: ReadonlyMap<string, Link>, isNew: ReadonlySet<number>) {
    const linked: Identity[] = [];
    const moves: Move[] = [];
    for (const [name, { user, ms, eventId }] of links) {
      const identity = this.#known.get(name)!;
      const { id, actor: from, linkedMs, linkedBy } = identity;
      if (linkedMs !== null && !isEarlier(ms, eventId, linkedMs, linkedBy!)) continue;
      const to = this.#known.get(user)!.id;
      identity.actor = to;
      identity.linkedMs = ms;
      identity.linkedBy = eventId;
      linked.push(identity);
      if (from !== to && !isNew.has(id)) moves.push({ identity: id, from, to });
    }
    return { linked, moves };
  }
}

const linkColumns = (identities: readonly Identity[]): string[] => [
  arrayLiteral(identities.map(({ id }) => id)),
  arrayLiteral(identities.map(({ actor }) => actor)),
  arrayLiteral(identities.map(({ linkedMs }) => linkedMs)),
  arrayLiteral(identities.map(({ linkedBy }) => linkedBy)),
];

async function addAll(
  tx: Sql,
  projectId: number,
  added: readonly (readonly [name: string, Identity])[],
): Promise<void> {
  await tx.query(ADD, [
    projectId,
    ...linkColumns(added.map(([, identity]) => identity)),
    arrayLiteral(added.map(([name]) => name[0]!)),
    arrayLiteral(added.map(([name]) => name.slice(1))),
  ]);
}

/** Says whose some anonymous ids are, by events of those that they are of. */
export async function linkIdentities(
  tx: Sql,
  projectId: number,
  links: readonly { id: number; identity: number; ms: number; eventId: string }[],
): Promise<void> {
  const linked = links.map(({ id, identity, ms, eventId }): Identity => ({
    ...{ id, actor: identity, linkedMs: ms, linkedBy: eventId },
  }));
  await tx.query(LINK, [projectId, ...linkColumns(linked)]);
}

/** The identities of some actors. */
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
      WHERE project_id = $1::int AND identity_id = k.actor_id AND actor_id = identity_id
      UNION ALL
      SELECT identity_id, actor_id FROM identities
      WHERE project_id = $1::int AND actor_id = k.actor_id AND actor_id <> identity_id) i`,
    [projectId, arrayLiteral([...actors])],
  );
  return new Map(rows.map(({ identity_id, actor_id }) => [identity_id, actor_id]));
}

/** The actors of some identities. */
export async function actorsOf(
  tx: Sql,
  projectId: number,
  identities: Iterable<number>,
): Promise<Set<number>> {
  const rows = await tx.query<{ actor_id: number }>(
    `SELECT DISTINCT i.actor_id FROM unnest($2::text::int[]) AS k (identity_id)
    JOIN identities i ON i.project_id = $1::int AND i.identity_id = k.identity_id`,
    [projectId, arrayLiteral([...identities])],
  );
  return new Set(rows.map(({ actor_id }) => actor_id));
}

/** Whose identities are has changed: what reads and other servers remember of it is out of date. */
export async function raiseLinksVersion(tx: Sql, projectId: number): Promise<number> {
  const [row] = await tx.query<{ links_version: number }>(
    `UPDATE projections SET links_version = links_version + 1 WHERE project_id = $1::int
    RETURNING links_version`,
    [projectId],
  );
  return row!.links_version;
}
