import assert from "node:assert/strict";
import type { Database } from "../../../src/db/sql.ts";
import type { EventRow } from "../../../src/store/event_row.ts";
import { createInsights } from "../../../src/reports/insights/insights.ts";
import { KPIS } from "../../../src/reports/kpis/kpis.ts";
import { createNote } from "../../../src/notes/notes.ts";
import { createProjection } from "../../../src/projection/projection.ts";
import { answerAsked } from "../../support/asked_read.ts";
import { onBothEngines, onPostgres } from "../../support/databases.ts";
import { openWithProjects } from "../../support/event_rows.ts";
import { type Dice, diceOf, pick, poisson, readOf, store, visit } from "./insight_world.ts";

const INSIGHTS = createInsights({ basePath: "/analytics" });
const DAY_MS = 86_400_000;
const FIRST_MS = Date.parse("2026-03-01T00:00:00Z");
/** The last of them is 2026-04-09, a Thursday. */
const DAYS = 40;
const AS_OF = "2026-04-10T00:00:00Z";
const LAST_THREE = { from: "2026-04-07", to: "2026-04-09" };
const LAST_WEEK = { from: "2026-04-03", to: "2026-04-09" };
const NEWS = { utm_source: "newsletter", utm_medium: "email", utm_campaign: "spring “sale”" };
const SEARCH = { referrer: "https://www.google.com/" };

interface Day {
  readonly dice: Dice;
  readonly project: number;
  readonly day: number;
}

function visitsOfDay({ dice, project, day }: Day, mean: number, from: Partial<EventRow>) {
  // Weekends are quieter, and no two days alike beyond chance.
  const weekday = new Date(FIRST_MS + day * DAY_MS).getUTCDay();
  const level = (weekday === 0 || weekday === 6 ? 0.85 : 1) * (0.9 + 0.2 * dice());
  return Array.from({ length: poisson(dice, mean * level) }, () => {
    // A third come back now and then.
    const who = `${project}-${Math.floor(dice() < 0.33 ? dice() * 300 : 300 + dice() * 1e9)}`;
    const atMs = FIRST_MS + day * DAY_MS + Math.floor(dice() * 85_000_000);
    const views = pick(dice, [1, 1, 1, 2, 3, 5]);
    return visit(dice, who, atMs, views, {
      project_id: project,
      country: pick(dice, ["DE", "DE", "FR", "US", null]),
      device: pick(dice, ["d", "d", "m"]),
      browser: pick(dice, ["Chrome", "Chrome", "Safari", "Firefox"]),
      ...from,
    });
  }).flat();
}

/** Steady noise; `news` is how many times as many come by newsletter on a day. */
function history(
  project: number,
  seed: number,
  visits: number,
  news: (day: number) => number,
): EventRow[] {
  const dice = diceOf(seed);
  return Array.from({ length: DAYS }, (_, day) => [
    ...visitsOfDay({ dice, project, day }, visits * 0.5, {}),
    ...visitsOfDay({ dice, project, day }, visits * 0.3, SEARCH),
    ...visitsOfDay({ dice, project, day }, visits * 0.2 * news(day), NEWS),
  ]).flat(2);
}

const steady = () => 1;

interface Shown {
  readonly kind: string;
  readonly metric: string;
  readonly goal?: string;
  readonly dimension?: string;
  readonly value?: string | null;
  readonly current: number;
  readonly previous: number;
  readonly change: number | null;
  readonly weekdays: { current: number; expected: number; change: number | null };
  readonly contribution: number | null;
  readonly score: number;
  readonly adjustedPValue: number;
  readonly text: string;
  readonly drilldown: string;
  readonly evidence: readonly Change[];
  readonly notes: readonly { readonly at: string; readonly text: string }[];
}

/** A finding and its evidence alike. */
type Change = Omit<Shown, "evidence" | "notes">;

interface Reply {
  readonly findings: readonly Shown[];
  readonly changes: number;
  readonly tested: number;
  readonly weeks: number;
  readonly previous: unknown;
}

async function ask(
  database: Database,
  parameters: Record<string, string>,
  asOf = AS_OF,
  projectId = 1,
): Promise<Reply> {
  const { result } = await answerAsked(INSIGHTS, readOf(database, parameters, asOf, { projectId }));
  for (const [name, schema] of Object.entries(INSIGHTS.reply)) schema.parse(result[name]);
  return result as unknown as Reply;
}

/** What the drilldown of a finding shows: current and previous. */
async function drill(database: Database, { drilldown, metric }: Change, asOf = AS_OF) {
  const url = new URL(drilldown, "http://footfall.test");
  assert.equal(url.pathname, "/analytics/v1/kpis");
  assert.equal(url.searchParams.get("project"), "prj_one");
  const { result } = await answerAsked(KPIS, readOf(database, url.searchParams, asOf));
  // deno-lint-ignore no-explicit-any
  const { totals, previous } = result as any;
  const of = (figures: Record<string, number>) =>
    metric === "bounceRate"
      ? (figures.bounceRate as unknown as { value: number }).value
      : figures[metric === "conversions" ? "visitors" : metric];
  return [of(totals), of(previous.totals)];
}

const count = (n: number): string => n.toLocaleString("en-US");
const percent = (n: number): string => `${Math.round(100 * n)}%`;

// The embedded engine answers insights in the next test, in their agreement with the reference, and in the snapshots.
onPostgres("insights: a planted surge", async (t, db) => {
  const database = await openWithProjects(db);
  const rows = history(1, 11, 110, (day) => day >= DAYS - 3 ? 3 : 1);
  const dice = diceOf(12);
  const buyers = rows.filter(() => dice() < 0.3).map((row) => ({
    ...row,
    event_id: crypto.randomUUID(),
    name: "buy",
    occurred_at: new Date(Date.parse(row.occurred_at) + 5_000).toISOString(),
  }));
  await store(database, [...rows, ...buyers]);
  await database.query(
    `INSERT INTO goals (project_id, slug, title, definition) VALUES (1, 'buy', 'Kauf',
      '{"match":{"name":"buy","filters":[]},"value":null}')`,
  );
  await createProjection(database).catchUp(1);
  for (const at of [LAST_THREE.from, "2020-01-01"]) {
    const author = { by: "somebody", keyId: null };
    await createNote(database, 1, { at, text: `Noted ${at}` }, author, Date.parse(AS_OF));
  }
  const { findings, changes, tested, weeks, previous } = await ask(database, LAST_THREE);
  const [cause] = findings;
  await t.step("the note that it begins with is listed, and no other", () => {
    const text = `Noted ${LAST_THREE.from}`;
    assert.deepEqual(cause!.notes, [{ at: LAST_THREE.from, text }]);
    const said = `It begins with a note of ${LAST_THREE.from}: “${text}”.`;
    assert.ok(cause!.text.endsWith(said), cause!.text);
  });
  const all: readonly Change[] = [cause!, ...cause!.evidence];

  await t.step(
    "is one finding, told by its narrowest value, and everything else is its evidence",
    () => {
      assert.equal(findings.length, 1);
      const { kind, metric, dimension, value } = cause!;
      assert.deepEqual([kind, metric], ["value_change", "visitors"]);
      assert.deepEqual([dimension, value], ["campaign", "spring “sale”"]);
      assert.equal(changes, all.length);
      assert.ok(changes > 12, `${changes} changes`);
      assert.ok(tested > 60 && tested < 400, `${tested} tested`);
      assert.equal(weeks, 4);
      assert.deepEqual(previous, {
        from: "2026-04-04T00:00:00.000Z",
        to: "2026-04-07T00:00:00.000Z",
      });
      for (const { dimension, value, adjustedPValue, current, previous } of all) {
        assert.ok(adjustedPValue <= 0.05 && current > previous);
        const own: Record<string, string> = {
          channel: "Email",
          source: "newsletter",
          campaign: "spring “sale”",
        };
        if (dimension !== undefined && Object.hasOwn(own, dimension)) {
          assert.equal(value, own[dimension], `${dimension} ${value}`);
        }
      }
      const scores = cause!.evidence.map(({ score }) => score);
      assert.deepEqual(scores, scores.toSorted((a, b) => b - a));
    },
  );

  await t.step("each drilldown shows the numbers of its finding", async () => {
    for (const finding of [...all.slice(0, 25), ...all.slice(-5)]) {
      const { current, previous, change, text, drilldown } = finding;
      assert.deepEqual(await drill(database, finding), [current, previous], text);
      assert.equal(change, (current - previous) / previous);
      assert.match(drilldown, /from=2026-04-07&to=2026-04-09&timezone=UTC&compare=previous/);
    }
  });

  await t.step("the value ranks above the total that it explains", () => {
    const total = all.find(({ kind, metric }) => kind === "total_change" && metric === "visitors")!;
    const email = all.find(({ metric, dimension }) =>
      metric === "visitors" && dimension === "channel"
    )!;
    assert.ok(all.indexOf(email) < all.indexOf(total));
    const share = (email.current - email.previous) / (total.current - total.previous);
    assert.equal(email.contribution, share);
    assert.equal(total.contribution, 1);
    const explained = share > 1 ? "more than all" : percent(share);
    assert.equal(
      total.text,
      `Visitors rose ${percent(total.change!)} to ${count(total.current)} (from ${
        count(total.previous)
      }) against the previous 3 days; visitors by the campaign “spring 'sale'” account for ${explained} of it.`,
    );
    assert.match(cause!.text, /^Visitors by the campaign “spring 'sale'” rose /);
    assert.match(email.text, /^Email visitors rose /);
  });

  await t.step("weekdays are those of the four weeks before the range", async () => {
    const email = all.find(({ metric, dimension }) =>
      metric === "pageviews" && dimension === "channel"
    )!;
    let before = 0;
    for (const week of [1, 2, 3, 4]) {
      const shift = (date: string) =>
        new Date(Date.parse(date) - week * 7 * DAY_MS).toISOString().slice(0, 10);
      const range = {
        from: shift(LAST_THREE.from),
        to: shift(LAST_THREE.to),
        filters: JSON.stringify([{ field: "channel", op: "is", values: ["Email"] }]),
      };
      const { result } = await answerAsked(KPIS, readOf(database, range, AS_OF));
      before += (result.totals as { pageviews: number }).pageviews;
    }
    const { current, expected, change } = email.weekdays;
    assert.deepEqual([current, expected], [email.current, before / 4]);
    assert.equal(change, (current - expected) / expected);
  });

  await t.step("conversions of a goal", () => {
    const conversions = all.filter(({ metric }) => metric === "conversions");
    assert.ok(conversions.some(({ kind }) => kind === "total_change"));
    for (const { goal, text } of conversions) {
      assert.equal(goal, "buy");
      assert.match(text, /^Conversions of “Kauf” /);
    }
  });

  await t.step("a filter narrows everything, and is in the drilldown", async () => {
    const filters = JSON.stringify([{ field: "channel", op: "is", values: ["Email"] }]);
    const narrowed = await ask(database, { ...LAST_THREE, filters, bots: "include" });
    const [top] = narrowed.findings;
    assert.ok(
      [top!, ...top!.evidence].some(({ kind }) => kind === "total_change"),
    );
    assert.deepEqual(await drill(database, top!), [top!.current, top!.previous]);
    const others = JSON.stringify([{ field: "channel", op: "is_not", values: ["Email"] }]);
    assert.deepEqual((await ask(database, { ...LAST_THREE, filters: others })).findings, []);
  });

  await t.step("a day that is not over, with the same part of other days", async () => {
    const asOf = "2026-04-09T14:30:00Z";
    const { findings, previous } = await ask(database, LAST_THREE, asOf);
    assert.deepEqual(previous, {
      from: "2026-04-04T00:00:00.000Z",
      to: "2026-04-06T14:30:00.000Z",
    });
    const [top] = findings;
    assert.equal(top!.value, "spring “sale”");
    assert.deepEqual(await drill(database, top!, asOf), [top!.current, top!.previous]);
    assert.match(top!.text, /the same part of the previous 3 days/);
  });

  await t.step("limit, and too short a history", async () => {
    const read = readOf(database, LAST_THREE, AS_OF);
    const { result, query } = await answerAsked(INSIGHTS, { ...read, limit: 2 });
    assert.deepEqual(result.findings, findings);
    assert.deepEqual(query, { compare: "previous" });
    const early = await ask(database, { from: "2026-03-10", to: "2026-03-12" });
    assert.deepEqual(early, { findings: [], changes: 0, tested: 0, weeks: 0, previous: null });
    const nobody = await ask(database, LAST_THREE, AS_OF, 2);
    assert.deepEqual(nobody, { findings: [], changes: 0, tested: 0, weeks: 0, previous: null });
  });
});

onBothEngines("insights: new values, and values that vanish", async (_t, db) => {
  const database = await openWithProjects(db);
  const rows = history(1, 5, 40, (day) => day >= DAYS - 3 ? 0 : 4);
  const dice = diceOf(6);
  const social = Array.from(
    { length: 60 },
    (_, i) =>
      visit(
        dice,
        `new${i}`,
        FIRST_MS + (DAYS - 3) * DAY_MS + Math.floor(dice() * 2.9 * DAY_MS),
        1,
        {
          country: `"Ö"\u202e\n`,
          referrer: "https://t.co/x",
        },
      ),
  ).flat();
  await store(database, [...rows, ...social]);
  await createProjection(database).catchUp(1);
  const { findings } = await ask(database, LAST_THREE);
  const all: Change[] = findings.flatMap((finding) => [finding, ...finding.evidence]);
  const of = (dimension: string, value: string) =>
    all.find((finding) =>
      finding.metric === "visitors" && finding.dimension === dimension && finding.value === value
    )!;
  const gone = of("channel", "Email");
  assert.deepEqual([gone.kind, gone.current, gone.change], ["vanished_value", 0, -1]);
  assert.match(gone.text, /^Email visitors are gone: none, against \d+ in the prev/);
  const country = of("country", `"Ö"\u202e\n`);
  assert.deepEqual([country.kind, country.current, country.change], ["new_value", 60, null]);
  assert.match(country.text, /^Visitors from “"Ö" ” are new: 60, against none in the prev/);
  assert.equal(findings.length, 2, "what came, and what went");
  for (const finding of [gone, country]) {
    assert.deepEqual(await drill(database, finding), [finding.current, finding.previous]);
  }
});

const SEEDS = 20;

onPostgres("insights: noise is no finding", async (_t, db) => {
  const database = await openWithProjects(db);
  let found = 0;
  for (let seed = 1; seed <= SEEDS; seed++) {
    const [row] = await database.query<{ project_id: number }>(
      "INSERT INTO projects (public_id, name) VALUES ($1::text, 'Noise') RETURNING project_id",
      [`prj_noise${seed}`],
    );
    const { project_id } = row!;
    await store(database, history(project_id, seed, 25, steady));
    await createProjection(database).catchUp(project_id);
    for (const range of [LAST_THREE, LAST_WEEK]) {
      const { findings, tested } = await ask(database, range, AS_OF, project_id);
      assert.ok(tested > 40, `${tested} tested`);
      found += findings.length > 0 ? 1 : 0;
    }
  }
  assert.ok(found <= 0.05 * 2 * SEEDS, `${found} of ${2 * SEEDS}`);
});
