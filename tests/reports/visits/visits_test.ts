import assert from "node:assert/strict";
import { placeOfVisit, visitId } from "../../../src/reports/visits/visit_id.ts";
import { DAY_MS, PAGE_ROWS_MAX } from "../../../src/limits.ts";
import {
  PERSON_DEVICES_MAX,
  PERSON_IDS_MAX,
  PERSON_PLACES_MAX,
} from "../../../src/reports/visits/person_head.ts";
import { PERSON_ID_LENGTH_MAX } from "../../../src/reports/visits/visits.ts";
import { insertEvents } from "../../../src/ingest/event_insert.ts";
import { createProjection } from "../../../src/projection/projection.ts";
import { PERSON_TIMELINE } from "../../../src/reports/visits/person_timeline.ts";
import { getReport } from "../../../src/reports/answer/report_endpoint.ts";
import { SegmentCache } from "../../../src/timelines/segment_cache.ts";
import {
  assertProblem,
  type Json,
  newEvent,
  sharedApp,
  type TestProject,
} from "../../support/app.ts";
import { testsAfter } from "../../support/prepared_tests.ts";
import { onBothEngines } from "../../support/databases.ts";
import { newRow, openWithProjects, PROJECT_ONE } from "../../support/event_rows.ts";
import { IN_PLACE } from "../../support/in_place.ts";

const server = sharedApp();
let project: TestProject;
const DAY = "2026-03-02";
const MINUTE_MS = 60_000;
const START_MS = Date.parse(`${DAY}T10:00:00Z`);

const at = (minutes: number) => new Date(START_MS + minutes * MINUTE_MS).toISOString();

// deno-lint-ignore no-explicit-any
async function ask(path: string, query: Record<string, string> = {}): Promise<any> {
  const range = { from: DAY, to: DAY, project: project.id };
  return await server.admin("GET", `/v1/${path}?${new URLSearchParams({ ...range, ...query })}`);
}

async function send(events: readonly Json[]): Promise<void> {
  const { status, body } = await server.post(project, [...events]);
  assert.equal(status, 200, JSON.stringify(body));
  assert.deepEqual(body.rejected, []);
}

const test = testsAfter(async () => {
  project = await server.project();
});

test("visit ids: they are decoded to what they encode; anything else is not one", () => {
  const entryId = "0190a000-1234-7000-8000-00000000abcd";
  for (const ms of [0, START_MS, -62_135_596_800_000, 8.64e15]) {
    const id = visitId({ ms, entryId });
    assert.match(id, /^[\w-]{32}$/);
    assert.deepEqual(placeOfVisit(id), { ms, entryId });
  }
  for (
    const none of ["", "x", "f".repeat(32), "A".repeat(31), `${"A".repeat(31)}!`, "é".repeat(32)]
  ) {
    assert.equal(placeOfVisit(none), null, none);
  }
});

test("visits: an unknown id and an invalid one are not found", async () => {
  for (const id of ["x", "%00", visitId({ ms: START_MS, entryId: crypto.randomUUID() })]) {
    assertProblem(await ask(`visits/${id}`), 404, "not_found");
  }
  for (const id of ["nobody", "%00", "%F0%9F%98%80"]) {
    assertProblem(await ask(`actors/${id}/timeline`), 404, "not_found");
  }
  assertProblem(await ask("visits", { goal: "none" }), 400, "invalid_parameter");
});

test("visits: a visit keeps its id when its person becomes a user", async () => {
  await send([newEvent({ anonymousId: "a1", name: "page_view", path: "/", timestamp: at(0) })]);
  const { body: { rows: [before] } } = await ask("visits");
  await send([
    newEvent({ anonymousId: "a1", userId: "u1", name: "sign_up", path: "/", timestamp: at(1) }),
  ]);
  const { body: { rows: [after] } } = await ask("visits");
  assert.deepEqual([before.actor, after.actor], ["a1", "u1"]);
  assert.equal(after.id, before.id);
  const { body: { visit, events } } = await ask(`visits/${before.id}`);
  assert.deepEqual([visit.actor, visit.events, events.length], ["u1", 2, 2]);
});

test("visits: a story is cut into pages, and times do not stop at their edges", async () => {
  const steps = [["page_view", 0], ["click", 1], ["page_view", 3], ["scroll", 7], ["page_view", 8]];
  await send(
    steps.map(([name, minutes]) =>
      newEvent({ anonymousId: "a1", name, path: "/", timestamp: at(Number(minutes)) })
    ),
  );
  const { body: { rows: [{ id }] } } = await ask("visits");
  const told: Json[] = [];
  let cursor = "";
  do {
    const { body } = await ask(`visits/${id}`, { limit: "2", cursor });
    told.push(...body.events);
    cursor = body.nextCursor ?? "";
  } while (cursor !== "");
  assert.deepEqual(
    told.map(({ name, secondsToNext, secondsOnPage }) => [name, secondsToNext, secondsOnPage]),
    [
      ["page_view", 60, 180],
      ["click", 120, null],
      ["page_view", 240, 300],
      ["scroll", 60, null],
      ["page_view", null, 0],
    ],
  );
});

test("visits: pages of a thousand that start at the same moment miss none", async () => {
  const count = PAGE_ROWS_MAX + 5;
  const events = Array.from(
    { length: count },
    (_, i) => newEvent({ anonymousId: `a${i}`, name: "page_view", path: "/", timestamp: at(0) }),
  );
  for (let i = 0; i < count; i += 500) await send(events.slice(i, i + 500));
  const onPage = JSON.stringify([{ field: "path", op: "is", values: ["/"] }]);
  for (const path of ["visits", "actors"]) {
    for (const filters of ["[]", onPage]) {
      const first = await ask(path, { limit: "1000", filters });
      const rest = await ask(path, { limit: "1000", filters, cursor: first.body.nextCursor });
      const actors = [...first.body.rows, ...rest.body.rows].map(({ actor }: Json) => actor);
      assert.equal(new Set(actors).size, count, `${path} ${filters}`);
      assert.equal(actors.length, count);
      assert.equal(rest.body.nextCursor, null);
    }
  }
});

onBothEngines(
  "people: a person's ids, devices and places are listed up to their limits",
  async (_t, db) => {
    const database = await openWithProjects(db);
    const most = Math.max(PERSON_IDS_MAX, PERSON_DEVICES_MAX, PERSON_PLACES_MAX) + 1;
    const projection = createProjection(database);
    const services = {
      reads: database,
      projection,
      segments: new SegmentCache(0),
      pool: IN_PLACE,
      readTimeoutMs: 600_000,
      now: () => START_MS + DAY_MS,
    };
    const headOf = async (userId: string, count: number): Promise<Json> => {
      await insertEvents(
        database,
        Array.from({ length: count }, (_, i) =>
          newRow({
            user_id: userId,
            anonymous_id: `${userId} ${i}`,
            name: "page_view",
            browser: `Browser ${i}`,
            city: `City ${i}`,
            occurred_at: at(-40 * i),
          })),
      );
      const url = new URL(`http://x/v1/actors/x/timeline?from=2026-02-01&to=${DAY}`);
      const asked = { request: new Request(url), url, params: { id: userId } };
      const response = await getReport(services, PERSON_TIMELINE, {
        ...asked,
        project: PROJECT_ONE,
      });
      return (await response.json()).person;
    };
    for (const [userId, count] of [["few", 2], ["many", most]] as const) {
      const { anonymousIds, devices, places, visits } = await headOf(userId, count);
      assert.equal(visits, count);
      assert.deepEqual(
        [anonymousIds, devices, places].map((list) => (list as Json[]).length),
        [PERSON_IDS_MAX, PERSON_DEVICES_MAX, PERSON_PLACES_MAX].map((max) => Math.min(max, count)),
      );
      assert.deepEqual((devices as Json[])[0], {
        ...{ device: null, browser: "Browser 0", os: null, visits: 1, lastSeen: at(0) },
      });
      assert.deepEqual((places as Json[]).at(1), {
        ...{ country: null, region: null, city: "City 1", visits: 1, lastSeen: at(-40) },
      });
    }
  },
);

test("visits: an id of 200 characters names somebody, a longer one is refused", async () => {
  const anonymousId = "x".repeat(PERSON_ID_LENGTH_MAX);
  await send([newEvent({ anonymousId, name: "page_view", path: "/", timestamp: at(0) })]);
  assert.equal((await ask("visits", { actor: anonymousId })).body.rows.length, 1);
  assertProblem(await ask("visits", { actor: `${anonymousId}x` }), 400, "invalid_parameter");
});

test("people: a person's anonymous ids have one order, however they arrived", async () => {
  const arrivals = [["phone", 2], ["laptop", 0], ["car", 1], ["tablet", 1]] as const;
  for (const [anonymousId, minute] of arrivals) {
    const timestamp = at(minute);
    await send([newEvent({ anonymousId, userId: "u1", name: "page_view", timestamp })]);
    await ask("kpis");
  }
  const { body } = await ask("actors/u1/timeline");
  assert.deepEqual(body.person.anonymousIds, ["phone", "car", "tablet", "laptop"]);
});

test("people: events from a server make them people without a visit", async () => {
  await send([
    newEvent({
      userId: "u1",
      name: "renewal",
      timestamp: at(0),
      properties: { $session: false },
    }),
  ]);
  const { body: { rows } } = await ask("actors");
  assert.deepEqual(
    rows.map(({ actor, visits, events }: Json) => [actor, visits, events]),
    [["u1", 0, 1]],
  );
  assert.deepEqual((await ask("visits")).body.rows, []);
  const { body } = await ask("actors/u1/timeline");
  assert.deepEqual([body.visits, body.events[0].visit], [[], null]);
});
