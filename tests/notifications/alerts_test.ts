import assert from "node:assert/strict";
import { JOBS, type JobServices } from "../../src/server/jobs.ts";
import { ALERTS_MAX } from "../../src/notifications/notification_limits.ts";
import { assertProblem, newEvent, type TestProject } from "../support/app.ts";
import { sharedPeopleApp } from "../support/people_database.ts";
import { type Received, type Receiver, startReceiver } from "./receiver.ts";

const people = sharedPeopleApp({ READ_TIMEOUT_MS: "120000" });
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

interface World {
  readonly project: TestProject;
  readonly receiver: Receiver;
  put(on: unknown, slug?: string): Promise<void>;
  /** What came since it was asked last: the first sentence of each. */
  look(): Promise<string[]>;
  /** The same, whole. */
  told(): Promise<Received[]>;
}

async function withWorld(work: (world: World) => Promise<void>): Promise<void> {
  const receiver = startReceiver();
  try {
    const project = await people.app.project({ name: "Shop" });
    await people.app.admin("PUT", `/v1/webhooks/chat?project=${project.id}`, {
      title: "Chat",
      url: receiver.url,
    });
    const told = async () => {
      // What is stored must be counted first.
      await people.app.admin("GET", `/v1/kpis?project=${project.id}`);
      await people.sql.query("UPDATE alerts SET due_at = now() - interval '1 second'");
      await people.app.app.runDue();
      return receiver.received.splice(0);
    };
    await work({
      ...{ project, receiver, told },
      async put(on, slug = "a") {
        const body = { title: "It happens", on, webhooks: ["chat"] };
        const reply = await people.app.admin(
          "PUT",
          `/v1/alerts/${slug}?project=${project.id}`,
          body,
        );
        assert.ok(reply.status === 201 || reply.status === 200, JSON.stringify(reply.body));
      },
      look: async () => (await told()).map(({ body }) => JSON.parse(body).data.sections[0].lead),
    });
    assert.deepEqual(
      await people.sql.query("SELECT slug FROM alerts WHERE problem IS NOT NULL"),
      [],
    );
  } finally {
    await people.sql.query("DELETE FROM alerts");
    await receiver.close();
  }
}

async function post(project: TestProject, events: Record<string, unknown>[]): Promise<void> {
  for (let i = 0; i < events.length; i += 500) {
    const batch = events.slice(i, i + 500).map(newEvent);
    const { body } = await people.app.post(project, batch);
    assert.equal(body.accepted, batch.length, JSON.stringify(body));
  }
}

Deno.test("alerts: a threshold is reported once, and again after it had ended", () =>
  withWorld(async ({ project, put, look, receiver }) => {
    const question = { match: { name: "purchase" }, measure: "visitors" };
    await put({ kind: "threshold", question, above: 1, over: "24h" });
    assert.deepEqual(await look(), []);
    await post(project, [{ name: "purchase", anonymousId: "a" }]);
    assert.deepEqual(await look(), [], "1 is not above 1");
    await post(project, [{ name: "purchase", anonymousId: "b" }]);
    const lead = "Visitors with purchase: 2 in the last 24h, above 1.";
    assert.deepEqual(await look(), [lead]);
    assert.deepEqual(await look(), [], "it still holds");
    const list = async () =>
      (await people.app.admin("GET", `/v1/alerts?project=${project.id}`)).body.alerts[0];
    assert.ok((await list()).firingSince !== null);
    const gone = await people.app.admin("DELETE", `/v1/actors/a?project=${project.id}`);
    assert.equal(gone.status, 200, JSON.stringify(gone.body));
    assert.deepEqual(await look(), [
      "Back to normal: Visitors with purchase: 1 in the last 24h, no longer above 1.",
    ]);
    assert.deepEqual(await look(), [], "it is over");
    assert.equal((await list()).firingSince, null);
    await post(project, [{ name: "purchase", anonymousId: "c" }]);
    assert.deepEqual(await look(), [lead]);
    const test = await people.app.admin("POST", `/v1/alerts/a/test?project=${project.id}`);
    assert.equal(test.body.deliveries[0].status, "sent", JSON.stringify(test.body));
    const { data, type } = JSON.parse(receiver.received.splice(0)[0]!.body);
    assert.deepEqual([type, data.isTest], ["alert.raised", true]);
    assert.match(data.subject, /^Test: Shop: Visitors with purchase: 2/);
    assert.match(data.sections[0].definition, /distinct actors/);
    assert.deepEqual(await look(), [], "a test changes nothing");
  }));

Deno.test("alerts: figures, goals and amounts, below as above", () =>
  withWorld(async ({ project, put, look }) => {
    for (const [slug, currency] of [["buy", "EUR"], ["yen", "JPY"]]) {
      await people.app.admin("PUT", `/v1/goals/${slug}?project=${project.id}`, {
        title: "Buy",
        match: { name: "purchase" },
        value: { property: "revenue", currency },
      });
    }
    await post(project, [
      { name: "page_view", path: "/", anonymousId: "a" },
      { name: "page_view", path: "/", anonymousId: "b" },
      { name: "purchase", anonymousId: "b", properties: { revenue: 12.5 } },
    ]);
    const cases: [unknown, string][] = [
      [{ question: { metric: "visitors" }, below: 3 }, "Visitors: 2 in the last 24h, below 3."],
      [
        { question: { metric: "bounceRate" }, above: 0.4 },
        "Bounce rate: 50% in the last 24h, above 40%.",
      ],
      [
        { question: { goal: "buy", measure: "rate" }, below: 0.6, over: "30m" },
        "Conversion rate of the goal buy: 50% in the last 30m, below 60%.",
      ],
      [
        { question: { goal: "buy", measure: "amount" }, above: 12 },
        "Value of the goal buy: €12.50 in the last 24h, above €12.00.",
      ],
      // A bound has the digits that it was given, and so has what reads like it.
      [
        { question: { goal: "buy", measure: "amount" }, above: 12.496 },
        "Value of the goal buy: €12.50 in the last 24h, above €12.496.",
      ],
      [
        { question: { goal: "yen", measure: "amount" }, above: 12.4 },
        "Value of the goal yen: ¥13 in the last 24h, above ¥12.4.",
      ],
      [
        { question: { goal: "yen", measure: "amount" }, below: 12.6 },
        "Value of the goal yen: ¥12.5 in the last 24h, below ¥12.6.",
      ],
      [{ question: { metric: "visitors" }, above: 1.5 }, "Visitors: 2 in the last 24h, above 1.5."],
      [
        {
          question: { metric: "pageviews", filters: [{ field: "path", op: "is", values: ["/"] }] },
          above: 1,
        },
        "Page views where path is /: 2 in the last 24h, above 1.",
      ],
    ];
    for (const [on, lead] of cases) {
      await put({ kind: "threshold", ...on as object });
      assert.deepEqual(await look(), [lead]);
    }
  }));

Deno.test("alerts: silence is reported if there were events before, until there are some again", () =>
  withWorld(async ({ project, put, look }) => {
    await put({ kind: "silence", minutes: 60 });
    assert.deepEqual(await look(), [], "nothing ever came");
    await post(project, [{
      name: "page_view",
      anonymousId: "a",
      timestamp: Date.now() - 2 * HOUR_MS,
    }]);
    assert.deepEqual(await look(), ["0 events in the last 60 minutes."]);
    assert.deepEqual(await look(), []);
    await post(project, [{ name: "page_view", anonymousId: "a" }]);
    assert.deepEqual(await look(), ["Back to normal: 1 event in the last 60 minutes."]);
    await put({ kind: "silence", minutes: 60, match: { name: "purchase" } });
    assert.deepEqual(await look(), [], "there never was a purchase");
    await post(project, [{ name: "purchase", anonymousId: "a", timestamp: Date.now() - DAY_MS }]);
    assert.deepEqual(await look(), ["0 events purchase in the last 60 minutes."]);
  }));

Deno.test("alerts: each is checked in the minute in which it is due, not in the next", () =>
  withWorld(async ({ project, put, look }) => {
    const minute = () => Math.floor(Date.now() / MINUTE_MS);
    const kinds = [
      { on: { kind: "silence", minutes: 60 }, minutes: 1 },
      { on: { kind: "threshold", question: { metric: "visitors" }, above: 1 }, minutes: 5 },
    ];
    const dueMinute = async () => {
      const [row] = await people.sql.query<{ due: number }>(
        "SELECT extract(epoch FROM due_at)::float8 / 60 AS due FROM alerts",
      );
      return row!.due;
    };
    await post(project, [{ name: "page_view", anonymousId: "a" }]);
    for (const { on, minutes } of kinds) {
      await put(on);
      assert.ok(await dueMinute() <= minute() + 1, `${on.kind}: first within a minute`);
      await look();
      assert.ok(await dueMinute() <= minute() + minutes, `${on.kind}: then every ${minutes}`);
    }
  }));

Deno.test("alerts: events set aside do not stop an alert; pending ones stop alerts on a fall", () =>
  withWorld(async ({ project, put, look }) => {
    const timestamp = Date.now() - 2 * HOUR_MS;
    await post(project, [{ name: "page_view", anonymousId: "a", timestamp }]);
    await people.sql.query(
      `INSERT INTO journal (project_id, event_count, from_ms, to_ms, block, projected_at, set_aside_until)
      SELECT project_id, 1, $2::int8, $2::int8, '', now(), now() + interval '1 hour'
      FROM projects WHERE public_id = $1::text`,
      [project.id, Date.now()],
    );
    const ofProject = "(SELECT project_id FROM projects WHERE public_id = $1::text)";
    await people.sql.query(
      `INSERT INTO earlier_projects (project_id, remaining) VALUES (${ofProject}, 1)`,
      [project.id],
    );
    await put({ kind: "silence", minutes: 60 });
    await put({ kind: "threshold", question: { metric: "events" }, below: 2 }, "few");
    assert.deepEqual(await look(), [], "an upgrade has not moved all events");
    await people.sql.query(`DELETE FROM earlier_projects WHERE project_id = ${ofProject}`, [
      project.id,
    ]);
    assert.deepEqual((await look()).toSorted(), [
      "0 events in the last 60 minutes.",
      "Events: 1 in the last 24h, below 2.",
    ]);
    await people.sql.query("DELETE FROM journal WHERE set_aside_until IS NOT NULL");
  }));

Deno.test("alerts: a spike beyond the same day of the weeks before", () =>
  withWorld(async ({ project, put, look }) => {
    const at = Date.now() - 3 * HOUR_MS;
    const weeks = Array.from({ length: 6 }, (_, i) => at - (i + 1) * 7 * DAY_MS);
    const visits = (count: number, timestamp: number) =>
      Array.from({ length: count }, (_, i) => ({
        name: "page_view",
        anonymousId: `${timestamp} ${i}`,
        timestamp,
      }));
    await post(project, weeks.flatMap((week, i) => visits(20 + i % 3, week)));
    await post(project, visits(22, at));
    await put({ kind: "unusual", question: { metric: "visitors" }, direction: "up" });
    assert.deepEqual(await look(), []);
    await post(project, visits(120, at + 60_000));
    const [lead] = await look();
    assert.match(
      lead!,
      /^Visitors: 142 in 24 hours; the same 24 hours of the 6 weeks before had 21 on average\.$/,
    );
    assert.deepEqual(await look(), []);
    await put({ kind: "unusual", question: { metric: "visitors" }, direction: "down" });
    assert.deepEqual(await look(), []);
  }));

Deno.test("alerts: findings above a score, each once", () =>
  withWorld(async ({ project, put, look }) => {
    const noon = Temporal.Now.zonedDateTimeISO("UTC").startOfDay().subtract({ hours: 12 });
    const days = Array.from({ length: 42 }, (_, i) => ({
      atMs: noon.subtract({ days: i }).epochMilliseconds,
      visitors: i < 7 ? 60 : 20 + i % 2,
    }));
    await post(
      project,
      days.flatMap(({ atMs, visitors }) =>
        Array.from({ length: visitors }, (_, i) => ({
          name: "page_view",
          anonymousId: `${atMs} ${i}`,
          timestamp: atMs,
        }))
      ),
    );
    await put({ kind: "finding", score: 1000 });
    assert.deepEqual(await look(), []);
    await put({ kind: "finding", score: 0 });
    const [lead] = await look();
    assert.match(lead!, /rose/);
    assert.deepEqual(await look(), []);
  }));

Deno.test("alerts: one due while a run waits for a receiver past the minute is checked after the run", () =>
  withWorld(async ({ project, put, receiver }) => {
    await post(project, [{ name: "page_view", path: "/", anonymousId: "a" }]);
    await people.app.admin("GET", `/v1/kpis?project=${project.id}`);
    for (const slug of ["a", "b"]) {
      await put({ kind: "threshold", question: { metric: "visitors" }, below: 5 }, slug);
    }
    const makeDue = async (slug: string) => {
      const due = "CASE slug WHEN $1::text THEN now() - interval '1 second' ELSE 'infinity' END";
      await people.sql.query(`UPDATE alerts SET due_at = ${due}`, [slug]);
    };
    const came: string[] = [];
    let onCame = () => Promise.resolve();
    receiver.answer = async ({ body }) => {
      came.push(JSON.parse(body).data.slug);
      await onCame();
      return new Response(null, { status: 204 });
    };
    let nowMs = 0;
    const services = {
      ...{ now: () => nowMs, move: null },
      notifications: { runDue: () => people.app.app.runDue() },
    } as unknown as JobServices;
    const job = JOBS.find(({ name }) => name === "tell what is due")!;
    await makeDue("a");
    onCame = async () => {
      onCame = () => Promise.resolve();
      await makeDue("b");
      nowMs += MINUTE_MS;
    };
    await job.run(services);
    assert.deepEqual(came, ["a", "b"]);
  }));

Deno.test("alerts: invalid members are refused by name, and bounds are exact", async () => {
  const { id } = await people.app.project();
  await people.app.admin("PUT", `/v1/webhooks/chat?project=${id}`, {
    title: "Chat",
    url: "https://hooks.example.com/1",
  });
  const put = (on: unknown, slug = "a") =>
    people.app.admin("PUT", `/v1/alerts/${slug}?project=${id}`, {
      title: "It happens",
      on,
      webhooks: ["chat"],
    });
  const question = { metric: "visitors" };
  const bad: [unknown, string][] = [
    [{ kind: "threshold", question }, "on.above"],
    [{ kind: "threshold", question, above: 1, below: 2 }, "on.above"],
    [{ kind: "threshold", question, above: 1, over: "4m" }, "on.over"],
    [{ kind: "threshold", question, above: 1, over: "91d" }, "on.over"],
    [
      { kind: "threshold", question: { goal: "x", measure: "sum" }, above: 1 },
      "on.question.measure",
    ],
    [{ kind: "unusual", question: { metric: "bounceRate" } }, "on.question"],
    [{ kind: "silence", minutes: 4 }, "on.minutes"],
    [{ kind: "silence", minutes: 10_081 }, "on.minutes"],
    [{ kind: "finding", score: -1 }, "on.score"],
    [{ kind: "finding", score: 1_001 }, "on.score"],
    [{ kind: "other" }, "on.kind"],
    [
      { kind: "threshold", question: { funnel: "x", measure: "p75" }, above: 1 },
      "on.question.measure",
    ],
    [
      { kind: "threshold", question: { vital: "lcp", measure: "rate" }, above: 1 },
      "on.question.measure",
    ],
    [
      { kind: "threshold", question: { match: { name: "x" }, measure: "sum:value" }, above: 1 },
      "on.question.measure",
    ],
    [{ kind: "unusual", question: { vital: "lcp" } }, "on.question"],
    // What is named must be there.
    [{ kind: "threshold", question: { goal: "gone" }, above: 1 }, "on.question.goal"],
    [{ kind: "threshold", question: { funnel: "gone" }, above: 1 }, "on.question.funnel"],
    [{ kind: "unusual", question: { ...question, segment: "gone" } }, "on.question.segment"],
    [{ kind: "finding", score: 1, segment: "gone" }, "on.segment"],
  ];
  for (const [on, field] of bad) {
    const refused = await put(on);
    assertProblem(refused, 400, "invalid_body");
    assert.equal(refused.body.errors[0].field, field, JSON.stringify([on, refused.body.errors]));
  }
  for (
    const asked of [{}, { measure: "rate" }, { ...question, goal: "x" }, { goal: "x", funnel: "y" }]
  ) {
    for (const kind of ["threshold", "unusual"]) {
      const { body } = await put({
        kind,
        question: asked,
        ...kind === "unusual" ? {} : { above: 1 },
      });
      const message = "Give exactly one of metric, goal, match, funnel, vital.";
      assert.deepEqual(body.errors, [{ field: "on.question", code: "invalid_value", message }]);
    }
  }
  const good = [
    { kind: "threshold", question, above: 1, over: "5m" },
    { kind: "threshold", question, above: 1, over: "90d" },
    { kind: "silence", minutes: 5 },
    { kind: "silence", minutes: 10_080 },
    { kind: "finding", score: 0 },
    { kind: "finding", score: 1_000 },
  ];
  for (const on of good) {
    const { status, body } = await put(on);
    assert.ok(status < 300, JSON.stringify(body));
  }
  for (let n = 1; n < ALERTS_MAX; n++) assert.equal((await put(good[2], `a-${n}`)).status, 201);
  assertProblem(await put(good[2], "one-more"), 409, "conflict");
  await people.sql.query("DELETE FROM alerts");
});
