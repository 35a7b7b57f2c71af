import assert from "node:assert/strict";
import { type Json, sharedApp, type TestProject } from "../../support/app.ts";
import { share, tokenOf } from "../../shares/shared_shop.ts";

const app = sharedApp();

interface Viewed {
  readonly day: string;
  readonly who: string;
  readonly path?: string;
  readonly source?: string;
}

/** Stores page views, and waits until they are counted; where `isNamed`, those of each page are a user's. */
async function store(
  project: TestProject,
  views: readonly Viewed[],
  isNamed = false,
): Promise<void> {
  const events = views.map(({ day, who, path = "/", source }, i) => ({
    eventId: crypto.randomUUID(),
    name: "page_view",
    anonymousId: who,
    title: `title of ${path}`,
    properties: { page: path },
    ...isNamed ? { userId: `user of ${path}` } : {},
    timestamp: new Date(Date.parse(`${day}T10:00:00Z`) + i).toISOString(),
    url: `https://shop.example/${path.replace(/^\//, "")}${
      source === undefined ? "" : `?utm_source=${source}`
    }`,
  }));
  const { body } = await app.post(project, events);
  assert.equal(body.accepted, views.length, JSON.stringify(body));
  // A share is refused what is not counted yet: its reply says nothing of pending events, to be asked again.
  const counted = await app.admin("GET", `/v1/kpis?project=${project.id}&from=${BEFORE}&to=${NOW}`);
  assert.equal(counted.body.pending, 0);
}

const [BEFORE, NOW] = ["2026-03-01", "2026-03-02"];
const times = <T>(count: number, of: (i: number) => T): T[] =>
  Array.from({ length: count }, (_, i) => of(i));

async function asked(project: TestProject, token: string, query: Json): Promise<Json> {
  const params = new URLSearchParams({
    ...{ project: project.id, event: "page_view", from: NOW!, to: NOW!, interval: "day" },
    ...{ compare: "previous", ...query as Record<string, string> },
  });
  const headers = { Authorization: `Bearer ${token}` };
  const { status, body } = await app.fetch(`/v1/trends?${params}`, { headers });
  assert.equal(status, 200, JSON.stringify(body));
  return body;
}

const changes = ({ change }: Json) =>
  (change as Json[]).map(({ value, current, previous }) => [value, current, previous]);

Deno.test("trends: a current value is found among any number of values of the compared range", async () => {
  const project = await app.project({ siteUrl: "https://shop.example" });
  await store(project, [
    ...times(60, (i) => ({ day: BEFORE!, who: `a${i}`, path: `/p${i % 30}` })),
    { day: BEFORE!, who: "b", path: "/x" },
    { day: NOW!, who: "b", path: "/x" },
  ], true);
  const told: Record<string, string> = {
    ...{ path: "/x", entryPath: "/x", exitPath: "/x", "properties.page": "/x", name: "page_view" },
    ...{ userId: "user of /x", title: "title of /x" },
  };
  for (const [by, value] of Object.entries(told)) {
    const { previous, ...body } = await asked(project, app.app.controlToken, { by });
    const expected = by === "name" ? [[value, 1, 61]] : [[value, 1, 1], ["$other", 0, 60]];
    assert.deepEqual(changes(body), expected, by);
    const lines = ((previous as Json)["series"] as Json[])
      .map(({ value, points }) => [value, (points as Json[])[0]!["value"]]);
    assert.deepEqual(lines, expected.map(([value, , before]) => [value, before]), by);
  }
});

Deno.test("trends: a value named like the line of all others has its own figures", async () => {
  const project = await app.project({ siteUrl: "https://shop.example" });
  await store(project, [
    ...times(25, (i) => times(2, (n) => ({ day: NOW!, who: `a${i}-${n}`, path: `/p${i}` }))).flat(),
    ...times(3, (i) => ({ day: NOW!, who: `b${i}`, path: "$other" })),
    ...times(2, (i) => ({ day: BEFORE!, who: `b${i}`, path: "$other" })),
    { day: BEFORE!, who: "c", path: "/rare" },
  ]);
  const body = await asked(project, app.app.controlToken, { by: "properties.page" });
  const told = changes(body).filter(([value]) => value === "$other");
  // The value itself, and what is left of the others: one of the 25, and what only came before.
  assert.deepEqual(told, [["$other", 3, 2], ["$other", 2, 1]]);
});

Deno.test("trends: the same in a share, with null for values of too few people", async () => {
  const project = await app.project({ siteUrl: "https://shop.example" });
  const from = (day: string, source: string, visitors: number) =>
    times(visitors, (i) => ({ day, who: `${source} ${day} ${i}`, source }));
  await store(project, [
    ...times(25, (i) => from(BEFORE!, `s${i}`, 10)).flat(),
    ...from(BEFORE!, "news", 9),
    ...from(BEFORE!, "friend", 2),
    ...from(NOW!, "news", 9),
    ...from(NOW!, "friend", 5),
  ]);
  const { id } = await share(app, project, { views: ["trends"], minimumVisitors: 3 });
  const body = await asked(project, await tokenOf(app, id), { by: "source" });
  assert.deepEqual(changes(body).slice(0, 2), [["news", 9, 9], ["friend", 5, null]]);
});
