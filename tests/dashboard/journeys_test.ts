import assert from "node:assert/strict";
import type { Page } from "puppeteer-core";
import { layOut } from "../../src/dashboard/views/journeys_layout.ts";
import {
  type Question,
  readPlace,
  readQuestion,
  textOfPlace,
} from "../../src/dashboard/views/journeys_question.ts";
import { stepFrom } from "../../src/dashboard/views/journeys_sankey.tsx";
import {
  endsOf,
  fromKey,
  funnelSteps,
  type JourneysReply,
  keyOf,
  numberOfWay,
  type WayNode,
  wayTo,
} from "../../src/dashboard/views/journeys_ways.ts";
import { newEvent } from "../support/app.ts";
import { press } from "./acts.ts";
import { assertAccessible, assertFits } from "./axe.ts";
import { dashboardWorld, type Visit } from "./page.ts";

const test = dashboardWorld();

const path = (step: number, value: string | null, count: number): WayNode => ({
  step,
  value,
  kind: "path",
  count,
});
const end = (step: number, count: number): WayNode => ({ step, value: "$end", kind: "end", count });
const link = (from: WayNode, to: WayNode, count: number) => ({
  step: from.step,
  from: from.value,
  fromKind: from.kind,
  to: to.value,
  toKind: to.kind,
  count,
});

const [a, b, c, other] = [path(1, "/a", 5), path(1, "/b", 4), path(2, "/c", 6), {
  step: 2,
  value: "$other",
  kind: "other",
  count: 2,
} as WayNode];
const gone = end(2, 1);
const REPLY: JourneysReply = {
  total: 9,
  nodes: [a, b, c, other, gone],
  links: [link(a, c, 2), link(a, other, 2), link(a, gone, 1), link(b, c, 4)],
};
const QUESTION: Question = {
  start: { kind: "any" },
  end: { kind: "any" },
  by: "path",
  steps: 5,
  top: 8,
  scope: "session",
  window: "1d",
};

Deno.test("journeys: the way to a node is that of the most, and a funnel its steps in order", () => {
  assert.deepEqual(wayTo(REPLY, c), [b, c]);
  assert.deepEqual(wayTo(REPLY, gone), [a, gone]);
  const paths = (steps: ReturnType<typeof funnelSteps>) =>
    steps.map(({ name, filters }) => [name, filters[0]?.op, filters[0]?.values[0]]);
  assert.deepEqual(paths(funnelSteps([b, c], false)), [
    ["page_view", "is", "/b"],
    ["page_view", "is", "/c"],
  ]);
  assert.deepEqual(paths(funnelSteps([b, c], true)).map((step) => step[2]), ["/c", "/b"]);
  assert.deepEqual(funnelSteps([a, gone], false), [], "one page is no funnel");
  const nameless = path(2, null, 1);
  assert.deepEqual(paths(funnelSteps([a, nameless], false))[1], [
    "page_view",
    "not_exists",
    undefined,
  ]);
  const bought: WayNode = { step: 2, value: "purchase", kind: "name", count: 1 };
  assert.deepEqual(funnelSteps([a, bought], false)[1], { name: "purchase", filters: [] });
});

Deno.test("journeys: a node and a link are numbers whose visits or people can be asked for", () => {
  const start = { kind: "page", path: "/a" } as const;
  const way = [{ step: 1, kind: "path", value: "/a" }, { step: 2, kind: "other" }];
  const own = { read: "journeys", by: "path", steps: 5, top: 8 };
  assert.deepEqual(numberOfWay({ ...QUESTION, start }, endsOf(REPLY.links[1]!)), {
    ...own,
    start: '{"path":"/a"}',
    scope: "session",
    place: { way },
  });
  assert.deepEqual(numberOfWay({ ...QUESTION, scope: "actor" }, [gone]), {
    ...own,
    scope: "actor",
    window: "1d",
    place: { way: [{ step: 2, kind: "end" }] },
  });
});

Deno.test("journeys: the address says the question, and nonsense the usual one", () => {
  const of = (search: string) => {
    const query = new URLSearchParams(search);
    return readQuestion((name) => query.get(name));
  };
  assert.deepEqual(of(""), QUESTION);
  assert.deepEqual(of("steps=99&top=7&by=all&scope=me&window=2y&start=&end={}"), QUESTION);
  assert.deepEqual(of('start={"path":"/a"}&end=purchase&steps=3&scope=actor&window=7d'), {
    ...QUESTION,
    start: { kind: "page", path: "/a" },
    end: { kind: "event", match: { name: "purchase", filters: [] } },
    steps: 3,
    scope: "actor",
    window: "7d",
  });
  for (const text of ['{"path":"/a"}', "purchase", null]) {
    assert.equal(textOfPlace(readPlace(text)), text);
  }
});

Deno.test("journeys: columns are steps, nothing overlaps, and arrow keys go along the ways", () => {
  const many = Array.from({ length: 20 }, (_, i) => path(2, `/${i}`, i === 0 ? 1000 : 1));
  const first = path(1, "/", 1019);
  const wide: JourneysReply = {
    total: 1019,
    nodes: [first, ...many],
    links: many.map((node) => link(first, node, node.count)),
  };
  const laid = layOut(wide, false, 300);
  const second = laid.nodes.filter(({ column }) => column === 1);
  assert.equal(second.length, 20);
  for (const [i, { topPx, heightPx, node }] of second.entries()) {
    assert.equal(node, many[i], "as the reply has them");
    const centre = topPx + heightPx / 2;
    assert.ok(topPx >= 0 && topPx + heightPx <= laid.heightPx);
    const before = second[i - 1];
    if (before) assert.ok(centre - (before.topPx + before.heightPx / 2) >= 20, `${i}`);
  }
  const sankey = layOut(REPLY, false, 900);
  const at = (node: WayNode) => sankey.nodes.find(({ key }) => key === keyOf(node))!;
  assert.equal(stepFrom(sankey, at(a), "ArrowDown"), at(b));
  assert.equal(stepFrom(sankey, at(b), "ArrowRight"), at(c));
  assert.equal(stepFrom(sankey, at(c), "ArrowLeft"), at(b), "where most came from");
  assert.equal(stepFrom(sankey, at(c), "End"), at(gone));
  assert.equal(stepFrom(sankey, at(a), "ArrowLeft"), undefined);
  const back = layOut(REPLY, true, 900);
  assert.equal(back.nodes.find(({ key }) => key === keyOf(a))!.column, 1, "the end at the right");
});

async function opened(visit: Visit, query = "", options = {}): Promise<Page> {
  const page = await visit.open(`view=journeys${query}`, options);
  await page.waitForSelector(".sankey-label");
  await visit.settled(page);
  return page;
}

const labels = (page: Page) =>
  page.$$eval(".sankey-label", (all) => all.map((each) => each.getAttribute("aria-label")!));

test("journeys: the diagram and the table show the numbers of the API", async (visit) => {
  const page = await opened(visit);
  const { nodes, links, total } = await visit.read("journeys") as JourneysReply;
  assert.ok(total > 0 && nodes.length > 10);
  const shown = await labels(page);
  assert.equal(shown.length, nodes.length);
  for (const { step, value, kind, count } of nodes) {
    if (kind !== "path") continue;
    const start = `Step ${step}: ${value}, ${count.toLocaleString("en-US")},`;
    assert.ok(shown.some((each) => each.startsWith(start)), start);
  }
  assert.equal((await page.$$(".sankey-link")).length, links.length);
  assert.ok((await page.$$("main tbody tr")).length < links.length, "the largest first");
  await press(page, "Show more", "main");
  await visit.until(page, `document.querySelectorAll("main tbody tr").length === ${links.length}`);
});

test("journeys: by keyboard along a way, and on into a funnel of it", async (visit) => {
  const page = await opened(visit);
  const { links, nodes } = await visit.read("journeys") as JourneysReply;
  await page.focus(".sankey-label");
  await page.keyboard.press("ArrowRight");
  await visit.until(page, `document.activeElement.ariaLabel?.startsWith("Step 2:")`);
  const focused = String(await page.evaluate("document.activeElement.ariaLabel"));
  const largest = links.filter((each) => fromKey(each) === keyOf(nodes[0]!))
    .toSorted((x, y) => y.count - x.count)[0]!;
  assert.ok(largest.toKind !== "path" || focused.includes(`: ${largest.to},`), focused);
  // Wherever that is: some page of the second step.
  await page.keyboard.press("Home");
  await page.keyboard.press("Enter");
  await page.waitForSelector(".journeys-chosen");
  await visit.until(page, `document.querySelectorAll(".sankey-on").length === 1`);
  const way = await page.$$eval(".journeys-way li", (all) => all.map((each) => each.textContent!));
  assert.equal(way.length, 2);
  await page.locator(".journeys-actions ::-p-text(Make a funnel)").click();
  await visit.sees(page, "Funnels", "h1");
  const steps = JSON.parse(new URL(page.url()).searchParams.get("steps")!);
  assert.deepEqual(
    steps.map(({ name, filters: [filter] }: { name: string; filters: { values: string[] }[] }) => [
      name,
      filter!.values[0],
    ]),
    way.map((value) => ["page_view", value]),
  );
  await page.goBack();
  await page.waitForSelector(".journeys-chosen");
});

test("journeys: from a page, back from an event, and what is chosen stays in the address", async (visit) => {
  const page = await opened(visit, `&start=${encodeURIComponent('{"path":"/"}')}`);
  const shown = await labels(page);
  assert.deepEqual(shown.filter((each) => each.startsWith("Step 1:")).length, 1);
  // A way that goes on to a page: of others and of ends there are no further ways.
  await page.evaluate(`[...document.querySelectorAll("main tbody tr")]
    .find((row) => /^2\\. \\//.test(row.querySelector("td").textContent))
    .querySelector(".row-button").click()`);
  await page.waitForSelector(".journeys-chosen");
  await visit.until(page, `document.querySelectorAll(".sankey-label-on").length === 2`);
  await page.reload();
  await page.waitForSelector(".journeys-chosen");
  // The visits behind the link are as many as it says.
  const told = await page.$eval(".journeys-chosen [role=status] strong", (all) => all.textContent!);
  await page.locator(".journeys-actions ::-p-text(The visits behind it)").click();
  await visit.sees(page, `${told}: On the way 1. /`, ".chips");
  await page.goBack();
  await page.waitForSelector(".journeys-chosen");
  await press(page, "Ways to here", ".journeys-actions");
  await visit.until(page, `new URL(location.href).searchParams.has("end")`);
  await page.waitForSelector(".sankey-label");
  await visit.sees(page, "followed back from where they end", "main");
  await page.close();

  const bought = await opened(visit, "&end=purchase&by=both&scope=actor&window=7d");
  await visit.sees(bought, "people", ".journeys-panel");
  const ways = await labels(bought);
  assert.ok(ways.at(-1)!.startsWith("Step 1: purchase,"), "the end stands at the right");
});

test("journeys: long and hostile values are text, and nobody's ways say so", async (visit) => {
  const project = await visit.server.project({ name: "Odd paths" });
  const long = `/${"very-long-path/".repeat(60)}`;
  const paths = [
    "/<img src=x onerror=alert(1)>",
    long,
    ...Array.from({ length: 22 }, (_, i) => `/${i}`),
  ];
  // Twice of the odd ones, so that they are among those that are told by themselves.
  for (const [i, path] of [...paths, ...paths.slice(0, 2)].entries()) {
    const anonymousId = `somebody ${i}`;
    await visit.server.post(project, [
      newEvent({ name: "page_view", path: "/", anonymousId, timestamp: Date.now() - 60_000 }),
      newEvent({ name: "page_view", path, anonymousId, timestamp: Date.now() - 30_000 }),
    ]);
  }
  await visit.server.admin("GET", `/v1/kpis?project=${project.id}`);
  for (const widthPx of [1440, 390]) {
    const page = await visit.open("view=journeys&top=20&steps=3", {
      project: project.id,
      widthPx,
    });
    await page.waitForSelector(".sankey-label");
    await visit.settled(page);
    assert.equal((await labels(page)).filter((each) => each.startsWith("Step 2:")).length, 21);
    const shown = await labels(page);
    for (const path of paths.slice(0, 2)) {
      assert.ok(shown.some((each) => each.startsWith(`Step 2: ${path}, 2,`)), path);
    }
    assert.equal(await page.$("main img"), null);
    await visit.picture(page, `journeys-odd-${widthPx}`);
    await assertAccessible(page, `odd journeys, ${widthPx} px`);
    await page.close();
  }
  const nobody = await visit.open("view=journeys&start=never_happened", { project: project.id });
  await visit.sees(nobody, "Nobody went such a way", "main");
});

for (const scheme of ["light", "dark"] as const) {
  test(`journeys: accessible with a way chosen, ${scheme}, wide and on a phone`, async (visit) => {
    const page = await opened(visit, "", { scheme });
    await page.focus(".sankey-label");
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("Enter");
    await page.waitForSelector(".journeys-chosen");
    await assertFits(visit, page, `journeys-${scheme}`);
  });
}
