import assert from "node:assert/strict";
import type { Page } from "puppeteer-core";
import {
  bodyOf,
  type ConditionRow,
  faultsOf,
  formOf,
  NEW_ROW,
  type SegmentForm,
} from "../../src/dashboard/segment_form.ts";
import type { ActorCondition } from "../../src/dashboard/segments.ts";
import { choice, fill, press } from "./acts.ts";
import { assertFits } from "./axe.ts";
import { dashboardWorld, DEMO, FUNNEL, type Visit } from "./page.ts";

const test = dashboardWorld();

/** Every view with a bar. */
const VIEW_IDS = [
  "overview",
  "insights",
  "trends",
  "funnels",
  "retention",
  "goals",
  "heatmaps",
  "events",
];

const form: SegmentForm = { ...formOf(null, []), title: "Some" };
const row = (changes: Partial<ConditionRow>): ConditionRow => ({ ...NEW_ROW, ...changes });
const saved = (actors: ActorCondition) => ({ slug: "a", title: "A", filters: [], actors });
const did = { name: "buy", filters: [] };

Deno.test("segment form: a saved condition comes back as it was", () => {
  const conditions: readonly ActorCondition[] = [
    { did },
    { did: { name: null, filters: [{ field: "path", op: "is", values: ["/a"] }] } },
    { did, atLeast: 3, within: "30d" },
    { did, atMost: 0, within: { from: "2026-01-01", to: "2026-01-31" } },
    { not: { did, atLeast: 2, atMost: 2 } },
    { goal: "purchase", within: "7d" },
    { not: { firstSeen: { from: "2026-01-01", to: "2026-01-31" } } },
    { all: [{ did }, { goal: "purchase" }] },
    { any: [{ not: { did } }, { firstSeen: { from: "2026-01-01", to: "2026-01-31" } }] },
    // What rows cannot show stays as it is.
    { any: [{ all: [{ did }, { goal: "purchase" }] }, { did }] },
    { not: { any: [{ did }, { goal: "purchase" }] } },
    { did, atLeast: 1, atMost: 5 },
    { did, within: { from: "2026-01-01T00:00:00Z", to: "2026-01-02T00:00:00Z" } },
  ];
  for (const actors of conditions) {
    const typed = formOf(saved(actors), []);
    assert.deepEqual(bodyOf(typed), { title: "A", filters: [], actors });
    assert.deepEqual(faultsOf(typed), {});
  }
  assert.deepEqual(bodyOf(form), { title: "Some", filters: [], actors: null });
  const filters = [{ field: "country", op: "is", values: ["DE"] }];
  assert.deepEqual(formOf(null, filters).filters, filters);
});

Deno.test("segment form: what is missing is named", () => {
  assert.deepEqual(Object.keys(faultsOf({ ...form, title: " " })), ["title"]);
  const unfinished = { field: "path", op: "is", values: [] };
  assert.deepEqual(Object.keys(faultsOf({ ...form, filters: [unfinished] })), ["filters"]);
  const wrong: readonly Partial<ConditionRow>[] = [
    { match: { name: "buy", filters: [unfinished] } },
    { times: "" },
    { times: "0" },
    { times: "1.5" },
    { kind: "goal" },
    { when: "days", days: "0" },
    { when: "days", days: "3654" },
    { when: "span" },
    { when: "span", from: "2026-01-02", to: "2026-01-01" },
    { kind: "firstSeen", from: "2026-01-02" },
  ];
  for (const changes of wrong) {
    assert.deepEqual(
      Object.keys(faultsOf({ ...form, rows: [row({}), row(changes)] })),
      ["row 1"],
      JSON.stringify(changes),
    );
  }
  assert.deepEqual(faultsOf({ ...form, rows: [row({ often: "atMost", times: "0" })] }), {});
});

/** The list of segments may be on its way yet. */
async function choose(visit: Visit, page: Page, label: string, value: string): Promise<void> {
  await visit.until(
    page,
    `document.querySelector('option[value="${value}"]') !== null`,
    `there is ${value} to choose`,
  );
  await (await choice(page, label)).select(value);
}

async function closed(visit: Visit, page: Page): Promise<void> {
  await visit.until(page, `document.querySelector("dialog") === null`, "the dialog is closed");
}

const integer = (value: number) => value.toLocaleString("en-US");
const param = (page: Page, name: string) => new URL(page.url()).searchParams.get(name);

test("segments: made of what people did, looked at in every view, edited and deleted", async (visit) => {
  const page = await visit.open("?view=overview&range=30d&compare=none");
  await visit.settled(page);
  await choose(visit, page, "Segment", "+new");
  await visit.sees(page, "New segment", "dialog");
  await press(page, "Create segment");
  await visit.sees(page, "Give the segment a title.", "dialog");
  await fill(page, "Title", "Bought");
  await press(page, "Condition on people", "dialog");
  await fill(page, "Event", "purchase");
  await press(page, "Create segment");
  await closed(visit, page);
  assert.equal(param(page, "segment"), "bought");
  await visit.settled(page);
  const { totals, query } = await visit.read("kpis", { segment: "bought" });
  assert.deepEqual(query.segment.actors, { did: { name: "purchase", filters: [] } });
  const all = (await visit.read("kpis")).totals.visitors;
  assert.ok(totals.visitors > 0 && totals.visitors < all, "some buy, not all");
  await visit.sees(page, `Visitors ${integer(totals.visitors)}`, ".overview-tiles");

  for (const view of VIEW_IDS) {
    const other = await visit.open(`?view=${view}&segment=bought`);
    await visit.settled(other);
    const value = await (await choice(other, "Segment")).evaluate((select) => select.value);
    assert.equal(value, "bought", view);
    await other.close();
  }

  await choose(visit, page, "Segment", "+edit");
  await visit.sees(page, "Edit the segment", "dialog");
  await choose(visit, page, "Condition 1", "not did");
  await press(page, "Save segment");
  await closed(visit, page);
  await visit.sees(page, `Visitors ${integer(all - totals.visitors)}`, ".overview-tiles");
  // Reads of the segment that are still under way would find it deleted.
  await visit.settled(page);

  await choose(visit, page, "Segment", "+edit");
  await press(page, "Delete this segment");
  await press(page, "Delete it for everyone");
  await closed(visit, page);
  assert.equal(param(page, "segment"), null);
  await visit.sees(page, `Visitors ${integer(all)}`, ".overview-tiles");
  const { segments } = await visit.read("segments");
  assert.deepEqual(segments, []);
});

const FILTERS = [{ field: "device", op: "is", values: ["mobile"] }];

test("segments: filters are saved as one, and compared with; rates change in points", async (visit) => {
  const search = new URLSearchParams({ view: "goals", filters: JSON.stringify(FILTERS) });
  const page = await visit.open(`?${search}`);
  await visit.settled(page);
  await choose(visit, page, "Segment", "+save");
  await visit.sees(page, "New segment", "dialog");
  await fill(page, "Title", "On a phone");
  await press(page, "Create segment");
  await closed(visit, page);
  assert.deepEqual([param(page, "segment"), param(page, "filters")], ["on-a-phone", null]);

  // Everybody beside them.
  await choose(visit, page, "Segment", "");
  await choose(visit, page, "Comparison", "segment:on-a-phone");
  await visit.sees(page, "Changes are against On a phone.");
  const { change: [goal] } = await visit.read("goals", { compare: "segment:on-a-phone" });
  const points = (100 * goal.conversionRatePoints).toLocaleString("en-US", {
    minimumFractionDigits: 1,
    maximumFractionDigits: 1,
    signDisplay: "exceptZero",
  });
  await visit.sees(page, `${points} pts`, "table");

  for (const view of ["overview", "trends", `funnels&funnel=${FUNNEL.slug}`, "retention"]) {
    const other = await visit.open(`?view=${view}&compare=segment:on-a-phone`);
    await visit.settled(other);
    const chosen = await (await choice(other, "Comparison")).evaluate((select) => select.value);
    assert.equal(chosen, "segment:on-a-phone", view);
    if (view !== "overview") await visit.sees(other, "Changes are against On a phone.");
    if (view.startsWith("funnels") || view === "retention") await visit.sees(other, " pts");
    await other.close();
  }
  await visit.server.admin("DELETE", `/v1/segments/on-a-phone?project=${DEMO}`);
});

for (const scheme of ["light", "dark"] as const) {
  test(`segments: the editor and what is compared, ${scheme}, wide and on a phone`, async (visit) => {
    const body = {
      title: "Came back and bought",
      filters: FILTERS,
      actors: {
        all: [{ did: "page_view", atLeast: 3, within: "30d" }, { not: { goal: "purchase" } }],
      },
    };
    await visit.server.admin("PUT", `/v1/segments/looked?project=${DEMO}`, body);
    const page = await visit.open("?view=goals&segment=looked&compare=previous", { scheme });
    await assertFits(visit, page, `segment-goals-${scheme}`);
    await choose(visit, page, "Segment", "+edit");
    await visit.sees(page, "Edit the segment", "dialog");
    await assertFits(visit, page, `segment-editor-${scheme}`);
    await page.keyboard.press("Escape");
    await closed(visit, page);
    const funnel = await visit.open(
      `?view=funnels&funnel=${FUNNEL.slug}&compare=previous`,
      { scheme },
    );
    await assertFits(visit, funnel, `segment-funnel-${scheme}`);
    await visit.server.admin("DELETE", `/v1/segments/looked?project=${DEMO}`);
  });
}
