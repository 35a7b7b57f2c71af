/**
 * A history to read from, made by PostgreSQL itself: visitors with their sessions and events of an
 * imagined shop, stored as the server stores them and marked for the projection, then projected.
 *
 * An actor comes first at any moment of the history, rather early than late, and again more often soon
 * after than late; few come a hundred times. A session has five events on average. The busiest hour
 * of a day is that of the end.
 */
import { createProgress } from "../src/cli/progress.ts";
import { processTerminal } from "../src/cli/terminal.ts";
import { arrayLiteral, type Database, type Param, type Sql } from "../src/db/sql.ts";
import { DAY_MS } from "../src/limits.ts";
import { insertNewEvents } from "../src/ingest/event_insert.ts";
import { mergeOnce } from "../src/projection/merging.ts";
import { createProjection } from "../src/projection/projection.ts";
import { EVENT_COLUMN_TYPES, type EventRow } from "../src/store/event_row.ts";
import { rowOf, selectedColumns } from "../src/upgrade/earlier_rows.ts";
import { AGENTS, PATHS, PLACES, SOURCES } from "./read_history_sources.ts";

export interface History {
  /** Events to make; as sessions are drawn, it is a per cent more or fewer. */
  readonly events: number;
  readonly days: number;
  readonly endMs: number;
  readonly projectId: number;
}

/** How fast something went. */
export interface Pace {
  readonly events: number;
  readonly seconds: number;
}

const EVENTS_PER_ACTOR = 20;
const EVENTS_PER_SESSION = 5;
/** floor(−ln(1 − u) · scale) is geometric, of mean 1 / (e^(1 / scale) − 1): here of the other four. */
const OTHER_EVENTS_SCALE = 1 / Math.log(1 + 1 / (EVENTS_PER_SESSION - 1));
/** Made at once: about 50,000 events. */
const SESSIONS_PER_SLICE = 10_000;
const PROGRESS_MS = 1_000;

type Column = readonly [name: string, type: string];

/** A table of the lists that a history is drawn from, numbered from 0. */
async function createList<T extends Record<string, Param>>(
  sql: Sql,
  name: string,
  columns: readonly Column[],
  rows: readonly T[],
): Promise<void> {
  const names = ["n", ...columns.map(([column]) => column)];
  const arrays = columns.map(([, type], i) => `$${i + 2}::text::${type}[]`);
  const members = Object.keys(rows[0]!);
  await sql.query(
    `CREATE UNLOGGED TABLE history.${name}
      (n int PRIMARY KEY, ${columns.map((column) => column.join(" ")).join(", ")})`,
  );
  await sql.query(
    `INSERT INTO history.${name} (${names.join(", ")})
    SELECT * FROM unnest(ARRAY(SELECT generate_series(0, $1::int - 1)), ${arrays.join(", ")})`,
    [rows.length, ...members.map((member) => arrayLiteral(rows.map((row) => row[member]!)))],
  );
}

async function createLists(sql: Sql): Promise<void> {
  const text = (...names: string[]): Column[] => names.map((name) => [name, "text"]);
  await createList(
    sql,
    "places",
    text("country", "region", "city", "locale", "timezone"),
    PLACES.map((place) => ({ ...place })),
  );
  await createList(sql, "agents", [
    ...text("browser", "os"),
    ["device", '"char"'],
    ["screen_width", "int"],
    ["screen_height", "int"],
  ], AGENTS.map((agent) => ({ ...agent })));
  await createList(
    sql,
    "sources",
    text("referrer", "query", "utm_source", "utm_medium", "utm_campaign", "click_id_kind"),
    SOURCES.map((source) => ({ ...source })),
  );
  await createList(sql, "paths", text("path"), PATHS.map((path) => ({ path })));
}

// Two in a hundred are bots, ten sign in now and then, and three are known by their daily hash alone.
const CREATE_ACTORS = `
INSERT INTO history.actors
SELECT actor, $2::int8 - floor($3::int8 * random() ^ 0.6)::int8,
  floor(${PLACES.length} * random() ^ 2), floor(${AGENTS.length} * random() ^ 1.5),
  random() < 0.02, random() < 0.10, random() < 0.03
FROM generate_series(1, $1::int) AS actor`;

// The first session of each actor, then the others, drawn so that low numbers come more often.
const CREATE_SESSIONS = `
INSERT INTO history.sessions
SELECT row_number() OVER (ORDER BY start_ms), *
FROM (
  SELECT start_ms - (start_ms - $4::int8) % ${DAY_MS} +
      (${DAY_MS} * (turn - 0.12 * sin(2 * pi() * turn)))::int8 AS start_ms,
    actor, events, source, shopping, signed_in
  FROM (
    SELECT *, (start_ms - $4::int8) % ${DAY_MS} / ${DAY_MS}.0::float8 AS turn
    FROM (
      SELECT a.first_ms + (($3::int8 - a.first_ms) *
          CASE WHEN drawn.returning THEN random() ^ 2 ELSE 0 END)::int8 AS start_ms,
        actor, 1 + floor(-ln(1 - random()) * ${OTHER_EVENTS_SCALE})::int AS events,
        floor(${SOURCES.length} * random() ^ 2.5)::int AS source,
        random() < 0.15 AS shopping, a.signs_in AND random() < 0.7 AS signed_in
      FROM (
        SELECT nth > $1::int AS returning,
          CASE WHEN nth > $1::int THEN 1 + floor($1::int * random() ^ 1.5)::int ELSE nth END AS actor
        FROM generate_series(1, $2::int) AS nth
      ) AS drawn JOIN history.actors a USING (actor)
    ) AS visited
  ) AS timed
) AS warped`;

const CREATE_TABLES = `
CREATE UNLOGGED TABLE history.actors (
  actor int PRIMARY KEY, first_ms int8, place int, agent int, bot bool, signs_in bool, nameless bool);
CREATE UNLOGGED TABLE history.sessions (
  session int8, start_ms int8, actor int, events int, source int, shopping bool, signed_in bool)`;

// What happened in the sessions of one slice. A page lasts until the next page view; which one it
// is follows from the session and the page's number, and few pages get most of the visits.
const HAPPENED = `
happened AS MATERIALIZED (
  SELECT s.*, seq, random() AS u, random() AS v,
    start_ms + (seq - 1) * 38000 + floor(random() * 36000)::int8 AS at_ms,
    CASE WHEN seq = 1 THEN 'page_view'
      WHEN random() < CASE WHEN shopping THEN 0.5 ELSE 0.0588 END THEN 'custom'
      ELSE (ARRAY['page_view', 'click', 'scroll'])[width_bucket(random(), ARRAY[0, 0.357, 0.786]::float8[])]
    END AS kind
  FROM history.sessions s, generate_series(1, s.events) AS seq
  WHERE s.session BETWEEN $1::int8 AND $2::int8
), walked AS (
  SELECT *, count(*) FILTER (WHERE kind = 'page_view') OVER w AS page,
    count(*) FILTER (WHERE kind = 'custom') OVER w AS custom
  FROM happened WINDOW w AS (PARTITION BY session ORDER BY seq)
), placed AS (
  SELECT *, md5(session || '-' || seq) AS digest,
    floor(${PATHS.length} * ((hashint8extended(session * 64 + page, 7) & 65535) / 65536.0::float8) ^ 2.5)::int
      AS path_n,
    CASE WHEN kind = 'scroll' AND v < 0.25 THEN '$web_vitals'
      WHEN kind <> 'custom' THEN kind
      WHEN shopping THEN (ARRAY['add_to_cart', 'checkout', 'purchase'])[1 + (custom - 1) % 3]
      WHEN u < 0.5 THEN 'signup' ELSE 'add_to_cart' END AS name,
    kind IN ('click', 'scroll') AS pointing
  FROM walked WHERE at_ms < $3::int8
)`;

// What stands for the scroll of a page view, for a quarter of them, is how fast it was.
// Most clicks hit one of forty elements of a page.
const COLUMNS: readonly (readonly [name: keyof EventRow, value: string])[] = [
  ["occurred_at", "to_timestamp(at_ms / 1000.0)"],
  ["received_at", "to_timestamp((at_ms + 500 + floor(5000 * v)) / 1000.0)"],
  ["pointer_x", "CASE WHEN kind = 'click' THEN round((element / 43.0 + 0.04 * u)::numeric, 4) END"],
  ["project_id", "$4::int"],
  ["viewport_width", "screen_width"],
  ["viewport_height", "screen_height - 120"],
  ["screen_width", "screen_width"],
  ["screen_height", "screen_height"],
  ["document_width", "CASE WHEN kind = 'click' THEN screen_width END"],
  ["document_height", "CASE WHEN pointing THEN document_height END"],
  [
    "depth_px",
    "CASE WHEN name = 'scroll' THEN screen_height + (document_height - screen_height) * u END",
  ],
  [
    "event_id",
    "(lpad(to_hex(at_ms), 12, '0') || '7' || substr(digest, 1, 3) || '8' || substr(digest, 4, 15))::uuid",
  ],
  ["clock", "'c'"],
  ["device", "device"],
  ["bot", "bot"],
  ["in_session", "name <> '$web_vitals'"],
  ["located", "true"],
  ["fixed", "CASE WHEN kind = 'click' THEN u < 0.1 END"],
  ["rage", "CASE WHEN kind = 'click' THEN v < 0.02 END"],
  ["dead", "CASE WHEN kind = 'click' THEN v > 0.95 END"],
  ["visitor_hash", `decode(md5(actor || 'on' || at_ms / ${DAY_MS}), 'hex')`],
  ["ip", "'100.0.0.0'::inet + actor::int8 * 7919 % 16777216"],
  ["country", "country"],
  ["region", "region"],
  ["city", "city"],
  ["name", "name"],
  [
    "anonymous_id",
    "CASE WHEN NOT nameless THEN overlay(md5('visitor' || actor)::uuid::text PLACING '4' FROM 15) END",
  ],
  ["user_id", "CASE WHEN signed_in THEN 'user-' || 10000 + actor END"],
  ["host", "'shop.example'"],
  ["path", "path"],
  ["url_rest", "CASE WHEN arrived THEN query END"],
  [
    "referrer",
    "CASE WHEN arrived THEN referrer WHEN kind = 'page_view' THEN 'https://shop.example/' END",
  ],
  [
    "title",
    "CASE WHEN kind = 'page_view' THEN 'Page ' || path_n || ' for garden and home - Example Shop' END",
  ],
  ["utm_source", "CASE WHEN arrived THEN utm_source END"],
  ["utm_medium", "CASE WHEN arrived THEN utm_medium END"],
  ["utm_campaign", "CASE WHEN arrived THEN utm_campaign END"],
  ["click_id_kind", "CASE WHEN arrived THEN click_id_kind END"],
  ["browser", "browser"],
  ["os", "os"],
  ["locale", "locale"],
  ["timezone", "timezone"],
  [
    "selector",
    "CASE WHEN kind = 'click' THEN 'main > section:nth-of-type(' || element % 9 + 1 || ') > a.product-card' END",
  ],
  [
    "properties",
    `CASE WHEN name = '$web_vitals' THEN jsonb_build_object('lcp', round((800 + 16000 * v)::numeric, 1),
        'inp', 16 + 8 * floor(300 * v)::int, 'cls', round((0.4 * u * u)::numeric, 4),
        'fcp', round((500 + 12000 * v)::numeric, 1), 'ttfb', round((100 + 6000 * v * u)::numeric, 1))
      WHEN kind <> 'custom' THEN NULL
      WHEN name = 'signup' THEN jsonb_build_object('plan', (ARRAY['free', 'team', 'business'])[1 + floor(3 * v)::int])
      ELSE jsonb_build_object('amount', round((200 * v)::numeric, 2),
        'sku', 'SKU-' || 10000 + floor(5000 * u)::int, 'list', 'recommended') END`,
  ],
];

// A little below the top of the element that was hit.
const POINTER_Y =
  "CASE WHEN kind = 'click' THEN floor(document_height * (element * 17 % 40) / 40.0 + 24 * v) END";

const STORE_SLICE = `
WITH ${HAPPENED}, whole AS (
  SELECT *, seq = 1 AS arrived, 2000 + path_n * 611 % 6000 AS document_height,
    floor(40 * (u * 7 - floor(u * 7)) ^ 2)::int AS element
  FROM placed
  JOIN history.actors a USING (actor)
  JOIN history.places p ON p.n = a.place
  JOIN history.agents g ON g.n = a.agent
  JOIN history.sources o ON o.n = placed.source
  JOIN history.paths t ON t.n = placed.path_n
), stored AS (
  SELECT ${POINTER_Y} AS pointer_y, at_ms, ${
  COLUMNS.map(([name, value]) => `(${value})::${EVENT_COLUMN_TYPES[name]} AS ${name}`).join(", ")
}
  FROM whole
)
SELECT ${selectedColumns(["pointer_y", ...COLUMNS.map(([name]) => name)])}
FROM stored e ORDER BY e.at_ms`;

const NO_VALUES = Object.fromEntries(
  Object.keys(EVENT_COLUMN_TYPES).map((name) => [name, null]),
) as unknown as EventRow;
/** Events of one flush of the writer. */
const EVENTS_PER_FLUSH = 2_000;

/** Stores rows as the writer does. */
async function storeRows(sql: Database, rows: readonly EventRow[]): Promise<void> {
  for (let from = 0; from < rows.length; from += EVENTS_PER_FLUSH) {
    const flush = rows.slice(from, from + EVENTS_PER_FLUSH);
    await insertNewEvents(sql, flush.sort((a, b) => a.event_id < b.event_id ? -1 : 1));
  }
}

/** Tells how far it is: a bar for a person, else a line every tenth. */
function createReport(label: string, total: number) {
  const terminal = processTerminal();
  const startedAt = performance.now();
  const bar = createProgress({ terminal, json: false }, label, total, () => performance.now());
  let tenths = 0;
  const seconds = () => (performance.now() - startedAt) / 1000;
  const line = (done: number) =>
    `${Math.round(done).toLocaleString("en")} events, ` +
    `${Math.round(done / seconds()).toLocaleString("en")} events/s`;
  return {
    update(done: number): void {
      bar.update(done, line(done));
      const reached = Math.floor(10 * done / total);
      if (!terminal.errorIsTerminal && reached > tenths) console.error(`${label}: ${line(done)}`);
      tenths = Math.max(tenths, reached);
    },
    end(events: number): Pace {
      bar.end();
      console.error(`${label}: ${line(events)}, ${seconds().toFixed(1)} s`);
      return { events, seconds: seconds() };
    },
  };
}

/** Stores the history in the journal. The same sizes make the same visitors in every run. */
export async function storeHistory(sql: Database, history: History): Promise<Pace> {
  const { events, days, endMs, projectId } = history;
  const spanMs = days * DAY_MS;
  const actors = Math.ceil(events / EVENTS_PER_ACTOR);
  const sessions = Math.ceil(events / EVENTS_PER_SESSION);
  await sql.script("CREATE SCHEMA history");
  await createLists(sql);
  await sql.script(CREATE_TABLES);
  await sql.transaction(async (tx) => {
    await tx.script("SELECT setseed(0.5); SET LOCAL work_mem = '256MB'");
    await tx.query(CREATE_ACTORS, [actors, endMs, spanMs]);
    await tx.script("ANALYZE history.actors");
    await tx.query(CREATE_SESSIONS, [actors, sessions, endMs, endMs - spanMs]);
    await tx.script("CREATE INDEX ON history.sessions (session); ANALYZE history.sessions");
  });
  const report = createReport("history", events);
  let stored = 0;
  for (let first = 1; first <= sessions; first += SESSIONS_PER_SLICE) {
    const rows = await sql.transaction(async (tx) => {
      await tx.script(
        `SET LOCAL work_mem = '256MB'; SET LOCAL jit = off; SELECT setseed(${first / sessions})`,
      );
      const last = first + SESSIONS_PER_SLICE - 1;
      return await tx.query(STORE_SLICE, [first, last, endMs, projectId]);
    });
    await storeRows(sql, rows.map((row) => rowOf({ ...NO_VALUES, ...row })));
    stored += rows.length;
    report.update(stored);
  }
  await sql.script("DROP SCHEMA history CASCADE");
  return report.end(stored);
}

/** Projects all that is pending, as the server would on its next read. */
export async function projectHistory(sql: Database, projectId: number): Promise<Pace> {
  const pending = async () => {
    const [row] = await sql.query<{ events: number }>(
      `SELECT coalesce(sum(event_count), 0)::int AS events FROM journal
      WHERE project_id = $1::int AND projected_at IS NULL`,
      [projectId],
    );
    return row!.events;
  };
  const events = await pending();
  const report = createReport("projection", events);
  let projected = false;
  const watch = async () => {
    while (!projected) {
      report.update(events - await pending());
      await new Promise((resolve) => setTimeout(resolve, PROGRESS_MS));
    }
  };
  const projecting = createProjection(sql).catchUp(projectId).finally(() => projected = true);
  await Promise.all([projecting, watch()]);
  const left = await pending();
  if (left > 0) throw new Error(`${left} events are not projected`);
  return report.end(events);
}

/** Merges segments until there is nothing to merge, as a server has done some time after the last event. */
export async function mergeHistory(
  sql: Database,
  projectId: number,
  events: number,
): Promise<Pace> {
  const report = createReport("merging", events);
  while (await mergeOnce(sql, projectId)) report.update(0);
  return report.end(events);
}
