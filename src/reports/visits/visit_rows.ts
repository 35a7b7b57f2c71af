import { z } from "zod";
import type { Row, Sql } from "../../db/sql.ts";
import { deviceOf } from "../../query/field_values.ts";
import { keyedRow } from "../../db/keyed_rows.ts";
import { WorthShown } from "../saved/goal_worth.ts";
import { visitId } from "./visit_id.ts";

/** The conversions of one goal in a visit. */
export const VisitConversion = z.object({
  slug: z.string().describe("The goal's"),
  title: z.string().describe("The goal's"),
  totalConversions: z.int(),
  value: WorthShown.describe("Of these conversions together; nulls if the goal has no value"),
});

export type VisitConversion = z.output<typeof VisitConversion>;

const text = z.string().nullable();

/** A visit as lists show it. */
export const VisitRow = z.object({
  id: z.string(),
  actor: z.string().describe("User id, else anonymous id, else visitor hash"),
  userId: text.describe("Where the person is a user"),
  start: z.iso.datetime(),
  seconds: z.number().describe("From the first event to the last"),
  channel: text,
  source: text,
  entryPath: text,
  exitPath: text,
  country: text,
  device: text,
  browser: text,
  os: text,
  pageviews: z.int(),
  events: z.int(),
  conversions: z.array(VisitConversion).describe("Goals reached, by slug"),
}).meta({ id: "Visit" });

/** A visit with everything that is known of its origin and place. */
export const WholeVisit = VisitRow.extend({
  medium: text,
  campaign: text,
  term: text,
  content: text,
  referrer: text.describe("Host of the page that led here"),
  region: text,
  city: text,
}).meta({ id: "WholeVisit" });

type WholeVisit = z.output<typeof WholeVisit>;

/** A visit as read from the database. */
export interface StoredVisit
  extends Row, Omit<WholeVisit, "id" | "userId" | "start" | "seconds" | "conversions"> {
  readonly actor_id: number;
  readonly first_ms: number;
  readonly last_ms: number;
  readonly entry_id: string;
  readonly kind: "u" | "a" | "h";
}

/** Selects the members of `StoredVisit`; sessions have the alias s. */
const MEMBERS = `s.actor_id, s.first_ms, s.last_ms, s.entry_id::text AS entry_id,
  i.kind::text AS kind, i.value AS actor,
  t.channel, t.source, t.medium, t.campaign, t.term, t.content, t.referrer,
  n.term AS "entryPath", x.term AS "exitPath",
  c.country, c.region, c.city, c.browser, c.os, ${deviceOf("c")} AS device,
  s.views AS pageviews, s.events`;
const rowOf = (table: string, key: string): string =>
  keyedRow(`${table} v`, `v.${key}`, "s.project_id");
const DICTIONARIES = `
  CROSS JOIN ${rowOf("identities", "identity_id = s.actor_id")} AS i
  LEFT JOIN ${rowOf("traffic", "traffic_id = s.traffic_id")} AS t ON true
  LEFT JOIN ${rowOf("contexts", "context_id = s.context_id")} AS c ON true
  LEFT JOIN ${rowOf("terms", "term_id = s.entry_path_id")} AS n ON true
  LEFT JOIN ${rowOf("terms", "term_id = s.exit_path_id")} AS x ON true`;
/** Orders visits newest first; those of one millisecond by the id of their entry event, descending. */
export const NEWEST_FIRST = "first_ms DESC, entry_id DESC";

/**
 * Reads visits in the order of the list. The wanted ones are chosen in a subquery, so that dictionaries are
 * joined only for these few.
 * @param chosen a query of rows of `sessions`
 */
export async function readVisits(
  sql: Sql,
  chosen: string,
  params: Parameters<Sql["query"]>[1],
): Promise<StoredVisit[]> {
  return await sql.query<StoredVisit>(
    `SELECT ${MEMBERS} FROM (${chosen}) AS s ${DICTIONARIES}
    ORDER BY s.first_ms DESC, s.entry_id DESC`,
    params,
  );
}

/** Returns the id of a visit. */
export function idOf({ first_ms, entry_id }: StoredVisit): string {
  return visitId({ ms: first_ms, entryId: entry_id });
}

/**
 * Returns a visit with the members of a schema, in its order.
 * @param shown of lists, or of everything that is known of the visit
 */
export function shownVisit<S extends typeof VisitRow | typeof WholeVisit>(
  visit: StoredVisit,
  conversions: readonly VisitConversion[],
  shown: S,
): z.output<S> {
  const { first_ms, last_ms, kind, actor } = visit;
  const whole: WholeVisit = {
    ...visit,
    id: idOf(visit),
    userId: kind === "u" ? actor : null,
    start: new Date(first_ms).toISOString(),
    seconds: (last_ms - first_ms) / 1000,
    conversions: [...conversions],
  };
  const names = Object.keys(shown.shape) as (keyof WholeVisit)[];
  return Object.fromEntries(names.map((name) => [name, whole[name]])) as z.output<S>;
}
