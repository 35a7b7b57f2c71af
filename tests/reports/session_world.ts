import fc from "fast-check";
import type { Database } from "../../src/db/sql.ts";
import { insertEvents } from "../../src/ingest/event_insert.ts";
import type { EventRow } from "../../src/store/event_row.ts";
import { EVENT_FIELDS, type Field, type Filter, propertyOf } from "../../src/query/filters.ts";
import { createProjection } from "../../src/projection/projection.ts";
import type { TestDatabase } from "../support/databases.ts";
import { newRow, openWithProjects } from "../support/event_rows.ts";

const MINUTE_MS = 60_000;
/** When the histories begin: an actor's events lie in several segments. */
export const WORLD_FROM_MS = Date.parse("2026-01-05T00:00:00Z");
export const WORLD_DAYS = 60;
/** Every event, and two days after the last. */
export const EVER = { fromMs: WORLD_FROM_MS, toMs: WORLD_FROM_MS + (WORLD_DAYS + 2) * 86_400_000 };

/** Fields of an event that timelines tell, those by its properties among them. */
export const TOLD_FIELDS: readonly Field[] = [
  ...EVENT_FIELDS,
  "properties.plan",
  "properties.total",
];

/** Some come often, so that sessions run into each other, and sign in later; the others seldom. */
const regular = fc.constantFrom<Partial<EventRow>>(
  { anonymous_id: "a1" },
  { anonymous_id: "a1", user_id: "ann" },
  { anonymous_id: "a2" },
  { anonymous_id: "a3", user_id: "ann" },
  { user_id: "bob" },
  { anonymous_id: "a4" },
  { anonymous_id: "a5" },
  {},
);
const someone = fc.oneof(
  regular,
  fc.nat({ max: 200 }).map((number): Partial<EventRow> => ({ anonymous_id: `b${number}` })),
);
const properties = fc.record({
  plan: fc.constantFrom("pro", "pro", "free", "5", null, { pro: true }),
  total: fc.constantFrom(5, 5, 0.5, -3, "5", true),
}, { requiredKeys: [] }).map((all) => JSON.stringify(all));
const something = fc.record({
  name: fc.constantFrom("page_view", "page_view", "click", "scroll", "signup", "buy", "$set"),
  path: fc.constantFrom("/", "/a", "/b", null),
  title: fc.constantFrom("Home", "/a", "buy", null),
  host: fc.constantFrom("shop.test", "www.shop.test", null),
  referrer: fc.constantFrom(
    "https://www.news.test/a",
    "https://news.test/",
    "https://shop.test/",
    null,
  ),
  country: fc.constantFrom("DE", "US", null),
  device: fc.constantFrom<EventRow["device"]>("d", "m", null),
  utm_source: fc.constantFrom("news", "shop", null, null),
  utm_medium: fc.constantFrom("email", null),
  utm_campaign: fc.constantFrom("spring", null, null),
  in_session: fc.constantFrom(true, true, true, true, true, false),
  interactive: fc.constantFrom(null, null, null, false),
  bot: fc.constantFrom(false, false, false, null, true),
  properties: fc.option(properties),
  depth: fc.constantFrom(100, 250, 900, null),
}).map(({ depth, ...what }): Partial<EventRow> => {
  if (what.name === "$set") return { ...what, in_session: false };
  return what.name === "scroll" ? { ...what, depth_px: depth, document_height: 1_000 } : what;
});
/** Just the longest pause of a session, and a millisecond more. */
const pauseMs = fc.oneof(
  fc.integer({ min: 0, max: 40 * MINUTE_MS }),
  fc.constantFrom(0, 1, 30 * MINUTE_MS, 30 * MINUTE_MS + 1),
);
const stay = fc.tuple(
  fc.nat({ max: WORLD_DAYS * 1_440 }),
  someone,
  fc.array(fc.tuple(pauseMs, something, fc.uuid()), { minLength: 1, maxLength: 8 }),
).map(([minute, who, steps]) => {
  let atMs = WORLD_FROM_MS + minute * MINUTE_MS;
  return steps.map(([pause, what, event_id]) => {
    atMs += pause;
    return newRow({ event_id, occurred_at: new Date(atMs).toISOString(), ...who, ...what });
  });
});

/** What a few actors did in two months: sessions of all kinds, and events of none. */
export function randomHistory(stays: number): EventRow[] {
  const [history] = fc.sample(fc.array(stay, { minLength: stays, maxLength: stays }), 1);
  return history!.flat();
}

/** A database whose first project has this history, projected in several turns. */
export async function openWithHistory(
  db: TestDatabase,
  rows: readonly EventRow[],
): Promise<Database> {
  const database = await openWithProjects(db);
  const turns = 6;
  for (let turn = 0; turn < turns; turn++) {
    const some = rows.filter((_, i) => i % turns === turn);
    await insertEvents(database, some.toSorted((a, b) => a.event_id < b.event_id ? -1 : 1));
    await createProjection(database).catchUp(1);
  }
  return database;
}

const VALUES = [
  ...["page_view", "buy", "/", "/a", "DE", "desktop", "ann", "news", "email", "spring"],
  ...["Email", "Direct", "pro", 5, true, "Home", "news.test", "https://news.test/", "shop.test"],
];

/** Filters on some of the fields, of values that the history has. */
export function randomFilter(fields: readonly Field[]): fc.Arbitrary<Filter> {
  const field = fc.constantFrom(...fields);
  const several = fc.record<Filter>({
    field,
    op: fc.constantFrom("is", "is_not", "contains", "not_contains", "starts_with"),
    values: fc.uniqueArray(fc.constantFrom(...VALUES), { minLength: 2, maxLength: 8 }),
  });
  const none = fc.record<Filter>({
    field,
    op: fc.constantFrom("exists", "not_exists"),
    values: fc.constant([]),
  });
  const either = [{ weight: 3, arbitrary: several }, { weight: 1, arbitrary: none }];
  const properties = fields.filter((one) => propertyOf(one) !== null);
  if (properties.length === 0) return fc.oneof(...either);
  const compared = fc.record<Filter>({
    field: fc.constantFrom(...properties),
    op: fc.constantFrom("gt", "gte", "lt", "lte"),
    values: fc.constantFrom([0.5], [5], [-3, "5"]),
  });
  return fc.oneof(...either, { weight: 1, arbitrary: compared });
}
