import fc from "fast-check";
import assert from "node:assert/strict";
import type { Database, Sql } from "../../src/db/sql.ts";
import { lookUpIds } from "../../src/timelines/event_ids.ts";
import { SegmentCache } from "../../src/timelines/segment_cache.ts";
import { insertEvents } from "../../src/ingest/event_insert.ts";
import type { EventRow } from "../../src/store/event_row.ts";
import {
  EVENT_FIELDS,
  type Field,
  type Filter,
  type FilterValue,
  isSessionField,
  SESSION_FIELDS,
} from "../../src/query/filters.ts";
import {
  type BotChoice,
  matchFilters,
  type Scope,
  type SessionDimension,
  sessionValue,
  type Span,
} from "../../src/query/selection.ts";
import { withoutTechnical } from "../../src/query/technical.ts";
import { createProjection } from "../../src/projection/projection.ts";
import { readKpis } from "../../src/reports/kpis/kpis.ts";
import { loadFilteredTimelines } from "../../src/scans/filtered_timelines.ts";
import type { Read } from "../../src/scans/read.ts";
import { type FollowRun, followRuns } from "../../src/scans/visitor.ts";
import { selectTimelines } from "../../src/scans/selected_timelines.ts";
import { sessionValue as valueOfSession } from "../reference/filters.ts";
import { type Fact, historyOf, type Session } from "../reference/world.ts";
import { onBothEngines } from "../support/databases.ts";
import { newRow } from "../support/event_rows.ts";
import { IN_PLACE } from "../support/in_place.ts";
import { eventTestOf, visiting } from "../support/read_timelines.ts";

/** As few on the embedded engine as surely hold filters that select a part. */
const HISTORIES = { postgres: 12, embedded: 5 } as const;
const START_MS = Date.parse("2026-03-01T00:00:00Z");
const MINUTE_MS = 60_000;
const SITE_HOST = "www.shop.test";
const SITE_URL = `https://${SITE_HOST}/`;

const PROPERTIES = [
  null,
  { plan: "pro" },
  { plan: "5", n: 5 },
  { plan: null, n: 5.5 },
  { n: "5" },
  { n: true, plan: "100%" },
  { x: "odd", n: -1e21 },
];
const someone = fc.constantFrom<Partial<EventRow>>(
  { anonymous_id: "a1" },
  { anonymous_id: "a2", user_id: "Ann" },
  { anonymous_id: "a2" },
  { user_id: "ann" },
  { anonymous_id: "a3" },
  {},
);
const something = fc.record({
  name: fc.constantFrom("page_view", "page_view", "click", "scroll", "signup", "buy_100%"),
  path: fc.constantFrom("/", "/a", "/a_b", "/ab", "/A", "page_view", null),
  host: fc.constantFrom("shop.test", "www.shop.test", "blog.test", null),
  title: fc.constantFrom("Home", "home page", "100% \\ off", null),
  referrer: fc.constantFrom(
    ...["https://www.google.com/search?q=x", "https://google.com", "https://shop.test/a", null],
    ...["http://blog.test:81/x", "android-app://com.app.News/y", "garbage", "HTTPS://a@News.test."],
  ),
  country: fc.constantFrom("DE", "US", null),
  browser: fc.constantFrom("Chrome", "Firefox", null),
  device: fc.constantFrom<EventRow["device"]>("d", "m", "t", "o", null),
  bot: fc.constantFrom(false, false, null, true),
  in_session: fc.constantFrom(true, true, true, false),
  utm_source: fc.constantFrom("google", "news", null, null),
  utm_medium: fc.constantFrom("cpc", "email", null, null),
  properties: fc.constantFrom(...PROPERTIES.map((one) => one && JSON.stringify(one))),
  pointer_x: fc.constantFrom(0.25, null),
  depth_px: fc.constantFrom(5, null),
  rage: fc.constantFrom(true, false, null),
});
const event = fc.tuple(fc.uuid(), fc.nat(80), someone, something).map(([event_id, at, who, what]) =>
  newRow({
    event_id,
    occurred_at: new Date(START_MS + at * 10 * MINUTE_MS).toISOString(),
    ...who,
    ...what,
  })
);

const VALUES: FilterValue[] = [
  ...["page_view", "click", "signup", "buy_100%", "_", "%", "/", "/a", "/a_b", "a", "A", ""],
  ...["google", "google.com", "https://www.google.com", "shop.test", "news.test", "com.app.news"],
  ...["DE", "Chrome", "desktop", "other", "Ann", "Home", "\\", "Direct", "cpc", "pro", "true"],
  ...[5, "5", "5.0", 5.5, 0.25, true, "null", -1e21],
];
const PATTERNS = ["^/a", "o", "(?i)ann", "\\d", "^.{2}$", "https?://", "a|e", "%$"];
const fields: Field[] = [
  ...EVENT_FIELDS,
  ...SESSION_FIELDS,
  ...["plan", "n", "x", "depthPx", "rage", "none"].map((key) => `properties.${key}` as const),
];
const textOps = ["is", "is_not", "contains", "not_contains", "starts_with"] as const;
const some = <T>(all: readonly T[]) =>
  fc.array(fc.constantFrom(...all), { minLength: 1, maxLength: 3 });
const filter: fc.Arbitrary<Filter> = fc.oneof(
  fc.record({
    field: fc.constantFrom(...fields),
    op: fc.constantFrom(...textOps),
    values: some(VALUES),
  }),
  fc.record({
    field: fc.constantFrom(...fields),
    op: fc.constant("matches" as const),
    values: some(PATTERNS),
  }),
  fc.record({
    field: fc.constantFrom(...fields),
    op: fc.constantFrom("exists" as const, "not_exists" as const),
    values: fc.constant([]),
  }),
  fc.record({
    field: fc.constantFrom(...fields.filter((field) => field.startsWith("properties."))),
    op: fc.constantFrom("gt" as const, "gte" as const, "lt" as const, "lte" as const),
    values: fc.constantFrom([5], ["5"], [0, 5.5], [-1e22]),
  }),
);
const bots = fc.constantFrom<BotChoice>("exclude", "include", "only");

type Value = string | number | boolean | null;

/** An event, its session, and the values of its fields as they are meant. */
interface Known {
  readonly eventId: string;
  readonly atMs: number;
  readonly isBot: boolean;
  readonly session: Session | null;
  readonly referrer: string | null;
  readonly values: ReadonlyMap<Field, Value>;
}

function hostOfReferrer(referrer: string | null, host: string | null): string | null {
  const found = /^[a-z][a-z0-9+.-]*:\/\/(?:[^/?#@]*@)?([^/?#:@]+)/i.exec(referrer ?? "")?.[1];
  const bare = (text: string) => text.toLowerCase().replace(/^www\./, "").replace(/\.$/, "");
  if (found === undefined) return null;
  return [host, SITE_HOST].some((own) => own !== null && bare(own) === bare(found))
    ? null
    : bare(found);
}

function propertyOf(row: EventRow, key: string): Value {
  const given = JSON.parse(row.properties ?? "{}");
  if (key in given) return given[key];
  if (row.name !== "click" && row.name !== "scroll") return null;
  return { x: row.pointer_x, depthPx: row.depth_px, rage: row.rage }[key] ?? null;
}

const DEVICES: Record<string, string> = { d: "desktop", m: "mobile", t: "tablet", o: "other" };

/** Returns the value of a field of the event, of its session or of its actor. */
function valueOf({ row, session, user }: Fact, field: Field): Value {
  if (field.startsWith("properties.")) return propertyOf(row, field.slice(11));
  if (isSessionField(field)) return session === null ? null : valueOfSession(session, field);
  if (field === "userId") return user;
  if (field === "device") return DEVICES[row.device ?? ""] ?? null;
  if (field === "referrer") return hostOfReferrer(row.referrer, row.host);
  return row[field as "name" | "path"];
}

function known(events: readonly EventRow[]): Known[] {
  const project = { timezone: "UTC", siteUrl: SITE_URL };
  return historyOf({ project, events, asOfMs: 0 }).facts.map((fact) => {
    const { row: { event_id: eventId, referrer, bot }, atMs, session } = fact;
    const values = new Map(fields.map((field) => [field, valueOf(fact, field)]));
    return { eventId, atMs, isBot: bot === true, session, referrer, values };
  });
}

const isNumeric = (value: FilterValue) =>
  typeof value === "number" || typeof value === "string" && /^-?\d+(\.\d+)?$/.test(value);

function holds(event: Known, { field, op, values }: Filter): boolean {
  const contrary = { is_not: "is", not_contains: "contains", not_exists: "exists" } as const;
  if (op === "is_not" || op === "not_contains" || op === "not_exists") {
    return !holds(event, { field, op: contrary[op], values });
  }
  const value = event.values.get(field) ?? null;
  if (op === "exists") return value !== null;
  return values.some((wanted) => {
    const one = field === "referrer" && op !== "matches" && String(wanted).includes("/")
      ? event.referrer
      : value;
    if (one === null) return false;
    if (typeof one === "number" && op !== "contains") {
      if (op === "is") return isNumeric(wanted) && Number(wanted) === one;
      if (op === "gt") return one > Number(wanted);
      if (op === "gte") return one >= Number(wanted);
      if (op === "lt") return one < Number(wanted);
      if (op === "lte") return one <= Number(wanted);
    }
    const text = String(one);
    if (op === "is") return text === String(wanted);
    if (op === "contains") return text.includes(String(wanted));
    if (op === "starts_with") return text.startsWith(String(wanted));
    if (op !== "matches") return false;
    const pattern = String(wanted);
    return pattern.startsWith("(?i)")
      ? new RegExp(pattern.slice(4), "i").test(text)
      : new RegExp(pattern).test(text);
  });
}

const byBots = (choice: BotChoice, { isBot }: Known) =>
  choice === "include" || isBot === (choice === "only");

/** Stores and projects rows as those of a new project. */
async function storedProject(database: Database, rows: readonly EventRow[]): Promise<number> {
  const [project] = await database.query<{ project_id: number }>(
    "INSERT INTO projects (public_id, name, site_url) VALUES ($1::text, 'One', $2::text) RETURNING project_id",
    [`prj_${crypto.randomUUID()}`, SITE_URL],
  );
  const { project_id } = project!;
  await insertEvents(database, rows.map((row) => ({ ...row, project_id })));
  await createProjection(database).catchUp(project_id);
  return project_id;
}

const history = fc.uniqueArray(event, {
  minLength: 40,
  maxLength: 80,
  selector: ({ event_id }) => event_id,
});
const scopeOf = (projectId: number, filters: readonly Filter[], bots: BotChoice): Scope => {
  return { projectId, siteHost: SITE_HOST, bots, filters };
};
const bounds = fc.constantFrom<[number, number]>([0, 801], [200, 500], [5, 10]);

const historiesIn = (sql: Sql, scope: Scope): Read["timelines"] => {
  const segments = new SegmentCache(1_000_000);
  const access = { sql, scope, segments, pool: IN_PLACE, use: segments.memory.enter() };
  return (span, filters) => loadFilteredTimelines(access, span, filters);
};

/** The ids of the events of a name (null: any) that a scan selects, in their order. */
async function selectedIn(
  sql: Sql,
  scope: Scope,
  span: Span,
  name: string | null,
): Promise<string[]> {
  const filters = matchFilters({ name, filters: [] });
  const source = { sql, scope, timelines: historiesIn(sql, scope) };
  const selected = await selectTimelines(source, span, { filters });
  const { eventFilters, timelines } = selected;
  const counting = withoutTechnical([...filters, ...eventFilters]);
  const test = await eventTestOf(sql, scope, scope.bots, counting, timelines);
  const segmentIds: number[] = [];
  const places: number[] = [];
  const follow: FollowRun = (actor, segment, start, end) => {
    const { segmentId, fromMs, times, names, paths, contexts, filterBits } = segment;
    for (let at = start; at < end; at++) {
      const ms = fromMs + times[at]!;
      if (ms < span.fromMs || ms >= span.toMs) continue;
      if (!test.passes(names[at]!, paths[at]!, contexts[at]!, actor, filterBits[at]!)) continue;
      segmentIds.push(segmentId);
      places.push(at);
    }
  };
  const visitor = visiting((actor, timeline) => followRuns(actor, timeline, follow));
  await selected.scan(visitor, () => null);
  const hex = (await lookUpIds(sql, scope.projectId, segmentIds, places)).toHex();
  return (hex.match(/.{32}/g) ?? [])
    .map((id) => id.replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-")).sort();
}

onBothEngines("selection: a scan finds what each filter means", async (t, db) => {
  const database = await db.open();

  await t.step("events and sessions, whatever the filters", async () => {
    let [some, all] = [0, 0];
    const questions = fc.array(
      fc.tuple(fc.array(filter, { maxLength: 3 }), bots, bounds, fc.constantFrom("signup", null)),
      { minLength: 25, maxLength: 25 },
    );
    await fc.assert(
      fc.asyncProperty(history, questions, async (rows, questions) => {
        const projectId = await storedProject(database, rows);
        const events = known(rows);
        for (const [filters, choice, [from, to], name] of questions) {
          const span = { fromMs: START_MS + from * MINUTE_MS, toMs: START_MS + to * MINUTE_MS };
          const scope = scopeOf(projectId, filters, choice);
          const inSpan = (ms: number) => ms >= span.fromMs && ms < span.toMs;
          const told = JSON.stringify({ filters, choice, from, to, name });

          const found = await selectedIn(database, scope, span, name);
          const selected = events.filter((one) =>
            byBots(choice, one) && filters.every((filter) => holds(one, filter))
          );
          const expected = selected.filter((one) =>
            inSpan(one.atMs) && (name === null || one.values.get("name") === name)
          ).map(({ eventId }) => eventId).sort();
          assert.deepEqual(found, expected, told);
          all++;
          if (expected.length > 0 && expected.length < rows.length / 2) some++;

          const meant = new Set(
            selected.map(({ session }) => session)
              .filter((session) => session !== null && inSpan(session.startMs)),
          );
          const source = { sql: database, scope, timelines: historiesIn(database, scope) };
          const { totals } = await readKpis(source, [span]);
          assert.equal(totals.sessions, meant.size, told);
        }
      }),
      { numRuns: HISTORIES[database.engine], endOnFailure: true },
    );
    assert.ok(some > all / 10, `${some} of ${all} select a part`);
  });

  await t.step("values of fields of sessions", async () => {
    const rows = fc.sample(history, { numRuns: 1, seed: 7 })[0]!;
    const projectId = await storedProject(database, rows);
    const events = known(rows);
    const dimensions: SessionDimension[] = [
      ...SESSION_FIELDS,
      ...[
        "referrer",
        "path",
        "host",
        "country",
        "region",
        "city",
        "browser",
        "os",
        "device",
      ] as const,
    ];
    for (const field of dimensions) {
      const { joins, value } = sessionValue(field);
      const found = await database.query<{ first: string; value: string | null }>(
        `SELECT s.entry_id::text AS first, ${value} AS value FROM sessions s ${joins}
        WHERE s.project_id = $1::int`,
        [projectId],
      );
      assert.ok(found.length > 5);
      for (const { first, value } of found) {
        const { values } = events.find(({ eventId }) => eventId === first)!;
        const expected = field === "path" ? values.get("entryPath") : values.get(field);
        // A session is classified by more than its first page view's own referrer.
        if (field !== "referrer") assert.equal(value, expected ?? null, field);
      }
    }
  });
});
