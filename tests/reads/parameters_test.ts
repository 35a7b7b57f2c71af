import assert from "node:assert/strict";
import { assertProblem, newEvent, type Reply, sharedApp } from "../support/app.ts";
import { badValuesOf } from "./bad_parameters.ts";
import { type Endpoint, endpoint, ENDPOINTS, FIRST_EVENT, SAVED } from "./endpoints.ts";

const server = sharedApp();
let project = "";
/** One with an event, so that there is a visit and a person to ask about. */
let visited = "";

Deno.test.beforeAll(async () => {
  project = (await server.project()).id;
  const own = await server.project();
  visited = own.id;
  const sent = await server.post(own, [newEvent({ ...FIRST_EVENT, name: "page_view" })]);
  assert.equal(sent.status, 200, JSON.stringify(sent.body));
  // Asked again until the event is counted: a visit is not found before.
  assert.equal((await server.admin("GET", `/v1/kpis?project=${visited}`)).body.pending, 0);
  const body = { title: "Saved", steps: ["page_view", "buy"] };
  const funnel = await server.admin("PUT", `/v1/funnels/${SAVED}?project=${project}`, body);
  assert.equal(funnel.status, 201, JSON.stringify(funnel.body));
  const goal = { title: "Saved", match: { name: "buy" } };
  assert.equal(
    (await server.admin("PUT", `/v1/goals/${SAVED}?project=${project}`, goal)).status,
    201,
  );
});

async function ask(
  { path, required, documented }: Endpoint,
  params: Readonly<Record<string, string>> = {},
): Promise<Reply> {
  const asked = documented.includes("{id}") ? visited : project;
  const query = new URLSearchParams({ project: asked, ...required, ...params });
  return await server.admin("GET", `${path}?${query}`);
}

/** A bad value of each of the parameters, not an empty one, which is as if it were not given. */
function worstOf({ documented }: Endpoint, parameters: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    parameters.map((name) => [name, badValuesOf(documented, name).find(Boolean)!]),
  );
}

/** The parameters that a problem names; one of several mistakes is named by each of them. */
function fieldsOf({ errors = [] }: Reply["body"]): string[] {
  return [...new Set<string>(errors.map(({ field }: { field: string }) => field))];
}

const shown = (value: string) => JSON.stringify(value.slice(0, 60));

for (const one of ENDPOINTS) {
  Deno.test(`${one.documented}: every bad value of every parameter is refused by its name`, async () => {
    assert.equal((await ask(one)).status, 200);
    const taken: string[] = [];
    for (const parameter of one.parameters) {
      if (parameter === "project") continue;
      const values = badValuesOf(one.documented, parameter);
      assert.ok(values.length > 0, `no bad value of ${parameter} is known`);
      for (const value of values) {
        const { status, body } = await ask(one, { [parameter]: value });
        const told = [status, body.code, fieldsOf(body).join()].join(" ");
        assert.doesNotMatch(body.detail ?? "", /Invalid|expected|received|Unrecognized|Too /);
        if (told !== `400 invalid_parameter ${parameter}`) {
          taken.push(`${parameter}=${shown(value)}: ${told}`);
        }
      }
    }
    assert.deepEqual(taken, []);
  });

  Deno.test(`${one.documented}: an unknown parameter is refused by its name, an empty one is none`, async () => {
    const reply = await ask(one, { colour: "red" });
    assertProblem(reply, 400, "invalid_parameter");
    assert.equal(reply.body.errors[0].field, "colour");
    assert.deepEqual(fieldsOf((await ask(one, { colour: "red", size: "x" })).body), [
      "colour",
      "size",
    ]);
    for (const parameter of one.parameters) {
      if (parameter in one.required || parameter === "project") continue;
      assert.equal((await ask(one, { [parameter]: "" })).status, 200, parameter);
    }
  });

  Deno.test(`${one.documented}: all that is wrong is told at once, shared or its own`, async () => {
    const wrong = one.parameters.filter((name) => name !== "project");
    const reply = await ask(one, worstOf(one, wrong));
    assertProblem(reply, 400, "invalid_parameter");
    assert.deepEqual(fieldsOf(reply.body).toSorted(), wrong.toSorted());
  });

  Deno.test(`${one.documented}: an interval that is given makes at most 2,000 buckets`, async () => {
    const interval = one.documented === "/v1/retention" ? "day" : "hour";
    const long = { from: "2019-01-01", to: "2025-12-31", interval };
    assertProblem(await ask(one, long), 400, "range_too_large");
    const compare = JSON.stringify({ from: long.from, to: long.to });
    const short = { from: "2026-01-01", to: "2026-01-02", interval, compare };
    const reply = await ask(one, short);
    assertProblem(reply, 400, "range_too_large");
    assert.deepEqual(fieldsOf(reply.body), ["compare"]);
    assert.match(reply.body.detail, /^compare: Ask for at most 2000 buckets/);
  });

  Deno.test(`${one.documented}: dates of compare with too many days are named, also without an interval`, async () => {
    const compare = JSON.stringify({ from: "2017-01-01", to: "2025-01-01" });
    const reply = await ask(one, { from: "2026-01-01", to: "2026-01-31", compare });
    // Without a series there are no buckets.
    if (reply.status === 200) return;
    assertProblem(reply, 400, "range_too_large");
    assert.deepEqual(fieldsOf(reply.body), ["compare"]);
  });

  Deno.test(`${one.documented}: ten years are not too long, a day more is`, async () => {
    const ten = { from: "2016-03-01", to: "2026-02-28", interval: "month" };
    assert.equal((await ask(one, ten)).status, 200);
    assertProblem(await ask(one, { ...ten, to: "2026-03-01" }), 400, "range_too_large");
    const instants = { ...ten, from: "2016-03-01T00:00:00Z", to: "2026-03-01T00:00:00.001Z" };
    assertProblem(await ask(one, instants), 400, "range_too_large");
  });

  Deno.test(`${one.documented}: a range that is too large is named among all that is wrong`, async () => {
    const decades = { from: "1990-01-01", to: "2026-01-01" };
    const both = await ask(one, { ...decades, compare: JSON.stringify(decades) });
    assertProblem(both, 400, "range_too_large");
    assert.deepEqual(fieldsOf(both.body), ["from", "compare"]);
    const mixed = await ask(one, { ...decades, bots: "maybe" });
    assertProblem(mixed, 400, "invalid_parameter");
    assert.deepEqual(fieldsOf(mixed.body), ["from", "bots"]);
    const buckets = { from: "2019-01-01", to: "2025-12-31", interval: "day", limit: "0" };
    const days = await ask(one, buckets);
    assertProblem(days, 400, "invalid_parameter");
    const tooLong = one.documented === "/v1/insights" ? "from" : "interval";
    assert.deepEqual(fieldsOf(days.body), [tooLong, "limit"]);
  });
}

Deno.test("reads: a parameter given twice is refused by its name", async () => {
  const ask = (path: string) =>
    server.admin("GET", `${path}?project=${project}&bots=include&bots=only&limit=1&limit=1`);
  for (const path of ["/v1/kpis", "/v1/events", "/v1/segments", "/v1/notes"]) {
    const reply = await ask(path);
    assertProblem(reply, 400, "invalid_parameter");
    assert.deepEqual(fieldsOf(reply.body), ["bots", "limit"]);
  }
});

Deno.test("reads: every mistake in a structured parameter is told, ten at most", async () => {
  const messages = async (filters: unknown): Promise<string[]> => {
    const { body } = await ask(endpoint("/v1/kpis"), { filters: JSON.stringify(filters) });
    return body.errors.map(({ message }: { message: string }) => message.split(":")[0]);
  };
  const bad = { field: "bogus", op: "zz", values: ["x"] };
  assert.deepEqual(await messages([bad, { ...bad, field: "name" }]), [
    "[0].field",
    "[0].op",
    "[1].op",
  ]);
  assert.equal((await messages(Array.from({ length: 6 }, () => bad))).length, 10);
});

Deno.test("reads: a structured parameter of another type is one mistake", async () => {
  const list = { ...endpoint("/v1/funnels"), required: {} };
  const { body } = await ask(list, { steps: '"more than ten letters"' });
  assert.deepEqual(body.errors.map(({ message }: { message: string }) => message), [
    "Use a list of steps.",
  ]);
  const { body: journeys } = await ask(endpoint("/v1/journeys"), { start: '{"path":[]}' });
  assert.equal(journeys.detail, "start: path: Use text.");
});

Deno.test("digests, alerts, webhooks: shared parameters change nothing, and bad ones are refused", async () => {
  for (const path of ["/v1/digests", "/v1/alerts", "/v1/webhooks"]) {
    const list = { ...endpoint("/v1/kpis"), path, required: {} };
    assert.equal((await ask(list, { from: "2026-01-01", bots: "only", limit: "5" })).status, 200);
    const bad = { from: "x", interval: "year", limit: "0", filters: "{", colour: "red" };
    const reply = await ask(list, bad);
    assertProblem(reply, 400, "invalid_parameter");
    assert.deepEqual(fieldsOf(reply.body).toSorted(), Object.keys(bad).toSorted(), path);
    const twice = await server.admin("GET", `${path}?project=${project}&project=${project}`);
    assertProblem(twice, 400, "invalid_parameter");
    assert.deepEqual(fieldsOf(twice.body), ["project"]);
  }
});

Deno.test("events: what has no effect is checked, in an export too", async () => {
  const told = async (accept: string, params: Record<string, string>) => {
    const path = `/v1/events?${new URLSearchParams({ project, ...params })}`;
    const headers = { "Authorization": `Bearer ${server.app.controlToken}`, "Accept": accept };
    const { status, body } = await server.fetch(path, { headers });
    return status === 400 ? fieldsOf(body).join() : status;
  };
  for (const accept of ["application/json", "application/x-ndjson"]) {
    assert.equal(await told(accept, { interval: "week", compare: "previous" }), 200);
    assert.equal(await told(accept, { interval: "year", compare: "x" }), "interval,compare");
    assert.equal(await told(accept, { compare: "segment:none" }), "compare");
  }
  // An export may be of a range that has no previous one.
  const whole = { from: "0001-01-01", to: "2026-01-01", compare: "previous" };
  assert.equal(await told("application/x-ndjson", whole), 200);
});

Deno.test("segments, notes: shared parameters change nothing, and bad ones are refused", async () => {
  for (const path of ["/v1/segments", "/v1/notes"]) {
    const list = { ...endpoint("/v1/kpis"), path, required: {} };
    const good = { from: "2026-01-01", bots: "only", limit: "1000", interval: "week" };
    const { status, body, headers } = await ask(list, good);
    assert.equal(status, 200);
    const { query, asOf, pending } = body;
    assert.deepEqual([query.project, query.from], [project, "2026-01-01T00:00:00.000Z"]);
    assert.deepEqual([query.bots, query.limit, query.interval], ["only", 1000, "week"]);
    assert.ok(query.semantics.length > 20 && Date.parse(asOf) > 0 && pending === 0);
    const again = await server.fetch(`${path}?${new URLSearchParams({ project, ...good })}`, {
      headers: {
        "Authorization": `Bearer ${server.app.controlToken}`,
        "If-None-Match": headers.get("etag")!,
      },
    });
    assert.equal(again.status, 304);
    const bad = { from: "x", bots: "zz", limit: "1001", filters: "{", bogus: "1" };
    assert.deepEqual(
      fieldsOf((await ask(list, bad)).body).toSorted(),
      Object.keys(bad).toSorted(),
    );
  }
});

Deno.test("overview: all that is wrong with its days is told at once", async () => {
  const reply = await server.admin("GET", "/v1/overview?from=2026-01-01T00:00:00Z&interval=z");
  assert.deepEqual(fieldsOf(reply.body), ["from", "interval"]);
});

Deno.test("reads in buckets: 2,000 hours are not too many, one more is", async () => {
  const from = "2026-01-01T00:00:00Z";
  const hours = (count: number) => new Date(Date.parse(from) + count * 3_600_000).toISOString();
  for (const path of ["/v1/kpis", "/v1/goals", "/v1/trends"]) {
    const most = { from, to: hours(2_000), interval: "hour" };
    const { status, body } = await ask(endpoint(path), most);
    assert.equal(status, 200);
    const { series } = path === "/v1/goals" ? body.goals[0] : body;
    assert.equal(series.length, 2_000);
    const more = await ask(endpoint(path), { ...most, to: hours(2_000.5) });
    assertProblem(more, 400, "range_too_large");
  }
});

Deno.test("trends: the interval that makes too many points is named", async () => {
  const years = { from: "2021-01-01", to: "2025-12-31", interval: "day" };
  const event = JSON.stringify(["signup", "purchase", "share"]);
  const reply = await ask(endpoint("/v1/trends"), { ...years, event, by: "country" });
  assertProblem(reply, 400, "range_too_large");
  assert.deepEqual(fieldsOf(reply.body), ["interval"]);
});

Deno.test("reads in buckets: the interval not given is the finest that fits", async () => {
  const of = async (from: string, to: string) =>
    (await ask(endpoint("/v1/kpis"), { from, to })).body.query.interval;
  assert.equal(await of("2026-01-01", "2026-01-01"), "hour");
  assert.equal(await of("2026-01-01", "2026-01-02"), "hour");
  assert.equal(await of("2026-01-01", "2026-01-03"), "day");
  // 2,000 days, and one more.
  assert.equal(await of("2020-01-01", "2025-06-22"), "day");
  assert.equal(await of("2020-01-01", "2025-06-23"), "week");
  const { body } = await ask(endpoint("/v1/retention"), { from: "2026-01-01", to: "2026-01-01" });
  assert.equal(body.query.interval, "day");
});

Deno.test("insights of more than 2,000 days: a shorter range is asked for, as no interval makes them fewer", async () => {
  const message = "Ask for at most 2000 days at once: take a shorter range.";
  const of = async (from: string, interval: string) =>
    await ask(endpoint("/v1/insights"), { from, to: "2026-06-23", interval });
  // 2026-06-23 is day 2,000 from 2021-01-01.
  assert.equal((await of("2021-01-01", "day")).status, 200);
  for (const interval of ["hour", "day"]) {
    const { body } = await of("2020-12-31", interval);
    assert.deepEqual(body.errors, [{ field: "from", code: "range_too_large", message }], interval);
  }
  // A coarser interval than the hour does help here.
  assert.deepEqual(fieldsOf((await of("2021-01-01", "hour")).body), ["interval"]);
});

Deno.test("heatmaps: a path or a pattern, and not both", async () => {
  const heatmaps = { ...endpoint("/v1/heatmaps"), required: {} };
  const neither = await ask(heatmaps);
  assertProblem(neither, 400, "invalid_parameter");
  assert.equal(neither.body.errors[0].field, "path");
  assert.equal((await ask(heatmaps, { pattern: "/*" })).status, 200);
});

Deno.test("a goal that nobody saved is a bad parameter, and so is not found as an address alone", async () => {
  for (const path of ["/v1/acquisition", "/v1/visits"]) {
    const refused = await ask(endpoint(path), { goal: "none" });
    assertProblem(refused, 400, "invalid_parameter");
    assert.equal(refused.body.errors[0].field, "goal", path);
  }
  const none = { ...endpoint("/v1/funnels/{slug}"), path: "/v1/funnels/none" };
  assertProblem(await ask(none), 404, "not_found");
  assertProblem(await ask({ ...none, path: "/v1/funnels/%00" }), 404, "not_found");
});

Deno.test("funnels: what means nothing without steps is refused", async () => {
  const list = { ...endpoint("/v1/funnels"), required: {} };
  assert.equal((await ask(list)).body.funnels.length, 1);
  for (const [name, value] of Object.entries({ window: "1d", by: "path", exclude: "[]" })) {
    const reply = await ask(list, { [name]: value });
    assertProblem(reply, 400, "invalid_parameter");
    assert.equal(reply.body.errors[0].field, name);
  }
});
