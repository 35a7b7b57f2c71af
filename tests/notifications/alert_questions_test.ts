/** Questions of alerts and digests about everything that can be saved; and how an alert ends. */
import assert from "node:assert/strict";
import type { Message } from "../../src/notifications/message.ts";
import { DIGEST_QUESTIONS_MAX } from "../../src/notifications/notification_limits.ts";
import { startMailServer } from "../mail/mail_server.ts";
import { assertProblem, type Json, newEvent } from "../support/app.ts";
import { PeopleApp } from "../support/people_database.ts";
import { NOON_ZONE } from "./noon_zone.ts";
import { parsedMail } from "./parsed_mail.ts";
import { isSigned, startReceiver } from "./receiver.ts";

const mailServer = await startMailServer();
const receiver = startReceiver();
const people = new PeopleApp({
  SMTP_URL: `smtp://127.0.0.1:${mailServer.port}`,
  SMTP_FROM: "Footfall <stats@example.org>",
  PUBLIC_URL: "https://stats.example.org",
  READ_TIMEOUT_MS: "120000",
});
Deno.test.beforeAll(() => people.start());
Deno.test.afterAll(async () => {
  await people.stop();
  await mailServer.close();
  await receiver.close();
});

const MINUTE_MS = 60_000;
const on = (path: string, op: string, value: string) => [{ field: path, op, values: [value] }];

interface Shop {
  readonly id: string;
  readonly secret: string;
  put(path: string, body: Json): Promise<Json>;
  post(events: Json[]): Promise<void>;
  /** Looks at everything, and returns what came. */
  told(): Promise<Got[]>;
}

/** A message as it came. */
interface Got {
  readonly type: string;
  readonly id: string;
  readonly data: Message;
}

/** A shop with a goal, a funnel, a segment and a webhook. */
async function newShop(): Promise<Shop> {
  const project = await people.app.project({ name: "Shop", timezone: NOON_ZONE });
  const { id } = project;
  const put = async (path: string, body: Json) => {
    const reply = await people.app.admin("PUT", `/v1/${path}?project=${id}`, body);
    assert.ok(reply.status < 300, JSON.stringify(reply.body));
    return reply.body;
  };
  const { secret } = await put("webhooks/chat", { title: "Chat", url: receiver.url });
  const value = { property: "revenue", currency: "EUR" };
  await put("goals/buy", { title: "Buy", match: { name: "purchase" }, value });
  await put("funnels/way", { title: "Way", steps: ["page_view", "purchase"] });
  await put("segments/readers", { title: "Readers", actors: { did: "read" } });
  return {
    ...{ id, secret: secret as string, put },
    async post(events) {
      const { body } = await people.app.post(project, events.map(newEvent));
      assert.equal(body.accepted, events.length, JSON.stringify(body));
    },
    async told() {
      await people.app.admin("GET", `/v1/kpis?project=${id}`);
      for (const table of ["alerts", "digests"]) {
        await people.sql.query(`UPDATE ${table} SET due_at = now() - interval '1 second'`);
      }
      await people.app.app.runDue();
      return await Promise.all(
        receiver.received.splice(0).map(async (got) => {
          assert.ok(await isSigned(got, secret as string));
          const { type, data } = JSON.parse(got.body);
          return { type, data, id: got.headers.get("webhook-id")! };
        }),
      );
    },
  };
}

/** Two come, of whom one reads and one buys; how fast the page was for each. */
function visits(atMs: number): Json[] {
  const at = (minutes: number) => atMs + minutes * MINUTE_MS;
  return [
    { name: "page_view", path: "/", anonymousId: "a", timestamp: at(0) },
    { name: "read", path: "/", anonymousId: "a", timestamp: at(1) },
    { name: "page_view", path: "/", anonymousId: "b", timestamp: at(0) },
    { name: "purchase", anonymousId: "b", properties: { revenue: 12.5 }, timestamp: at(2) },
    {
      name: "$web_vitals",
      path: "/",
      anonymousId: "a",
      properties: { lcp: 3000, cls: 0.02 },
      timestamp: at(0),
    },
    {
      name: "$web_vitals",
      path: "/slow",
      anonymousId: "b",
      properties: { lcp: 5000, cls: 0.3 },
      timestamp: at(0),
    },
  ];
}

const CASES: readonly [question: Json, lead: string, view: string][] = [
  [{ metric: "visitors", segment: "readers" }, "Visitors of the segment readers: 1", "overview"],
  [{ goal: "buy" }, "Conversions of the goal buy: 1", "goals"],
  [
    { goal: "buy", measure: "rate", segment: "readers" },
    "Conversion rate of the goal buy of the segment readers: 0%",
    "goals",
  ],
  [{ funnel: "way" }, "Conversion rate of the funnel way: 50%", "funnels"],
  [
    { funnel: "way", measure: "entered", segment: "readers" },
    "Entered of the funnel way of the segment readers: 1",
    "funnels",
  ],
  [
    { funnel: "way", measure: "converted", filters: on("path", "is_not", "/x") },
    "Converted of the funnel way where path is not /x: 1",
    "funnels",
  ],
  [{ match: { name: "read" }, measure: "visitors" }, "Visitors with read: 1", "trends"],
  [
    { match: { name: "purchase" }, measure: "sum:properties.revenue" },
    "Sum of revenue of purchase: 12.5",
    "trends",
  ],
  [
    { match: { name: "page_view", filters: on("path", "is", "/") }, segment: "readers" },
    "Events page_view of the segment readers where path is /: 1",
    "trends",
  ],
  [
    { match: { name: "page_view" }, measure: "perVisitor" },
    "Events page_view per visitor: 1",
    "trends",
  ],
  [{ vital: "lcp" }, "LCP (p75): 4.5 s", "vitals"],
  [
    { vital: "lcp", filters: on("path", "is", "/slow") },
    "LCP (p75) where path is /slow: 5 s",
    "vitals",
  ],
  [{ vital: "cls", segment: "readers" }, "CLS (p75) of the segment readers: 0.02", "vitals"],
  [{ vital: "cls", measure: "poor" }, "Page views with a poor CLS: 50%", "vitals"],
];

Deno.test("alerts: goals, funnels, events, vitals and figures, with filters and of a segment", async () => {
  const shop = await newShop();
  await shop.post(visits(Date.now() - 10 * MINUTE_MS));
  for (const [i, [question]] of CASES.entries()) {
    const cause = { kind: "threshold", question, above: -1, over: "30m" };
    await shop.put(`alerts/a-${i}`, { title: `Alert ${i}`, on: cause, webhooks: ["chat"] });
  }
  const told = await shop.told();
  for (const [i, [question, lead, view]] of CASES.entries()) {
    const { data } = told.find((one) => one.data.slug === `a-${i}`)!;
    const section = data.sections[0]!;
    assert.ok(section.lead.startsWith(`${lead} in the last 30m, above`), section.lead);
    const link = new URL(section.url).searchParams;
    assert.equal(link.get("view"), view, section.url);
    assert.equal(link.get("segment"), question.segment ?? null, section.url);
    assert.equal(link.get("filters"), question.filters ? JSON.stringify(question.filters) : null);
    for (const named of ["goal", "funnel"]) assert.equal(link.get(named), question[named] ?? null);
    assert.ok(section.definition.length > 50);
  }
  assert.equal(told.length, CASES.length);
  await people.sql.query("DELETE FROM alerts");
});

Deno.test("alerts: the deletion of what an alert needs is shown in the list, and not sent", async () => {
  const shop = await newShop();
  const question = { goal: "buy" };
  const body = { title: "Buys", on: { kind: "threshold", question, below: 5 }, webhooks: ["chat"] };
  await shop.put("alerts/buys", body);
  await people.app.admin("DELETE", `/v1/goals/buy?project=${shop.id}`);
  assert.deepEqual(await shop.told(), []);
  const { alerts } = (await people.app.admin("GET", `/v1/alerts?project=${shop.id}`)).body;
  assert.equal(alerts[0].problem, 'There is no goal "buy" any more.');
  // Runs begin with the minute: a look that is due after its beginning would wait for the next one.
  const due = "SELECT due_at = date_trunc('minute', due_at) AS whole FROM alerts";
  assert.deepEqual(await people.sql.query(due), [{ whole: true }]);
  await people.sql.query("DELETE FROM alerts");
});

Deno.test("alerts: a recovery is sent once, with the alert's id, and only if it is wanted", async () => {
  const shop = await newShop();
  const { email } = await people.person("viewer", [shop.id]);
  const cause = { kind: "silence", minutes: 60 };
  const told = { title: "Silent", on: cause, to: [email], webhooks: ["chat"] };
  assert.equal((await shop.put("alerts/loud", told)).recovery, true, "unless it says otherwise");
  await shop.put("alerts/quiet", { ...told, to: [], recovery: false });
  await shop.post([{ name: "page_view", timestamp: Date.now() - 120 * MINUTE_MS }]);
  const raised = (await shop.told()).find(({ data }) => data.slug === "loud")!;
  assert.equal(raised.type, "alert.raised");
  await shop.post([{ name: "page_view" }, { name: "page_view" }]);
  const [over, ...others] = await shop.told();
  assert.deepEqual(others, [], "the quiet one says nothing");
  assert.deepEqual([over!.type, over!.id], ["alert.recovered", `${raised.id}-over`]);
  assert.deepEqual(
    over!.data.sections[0]!.lead,
    "Back to normal: 2 events in the last 60 minutes.",
  );
  assert.match(over!.data.sections[0]!.findings[0]!, /^It held for \d+ minutes?\.$/);
  assert.deepEqual(await shop.told(), [], "once");
  const [first, second, ...more] = mailServer.received.filter(({ to }) => to.includes(email))
    .map(({ raw }) => parsedMail(raw).headers);
  assert.equal(more.length, 0);
  assert.equal(second!["in-reply-to"], first!["message-id"]);
  assert.equal(second!["references"], first!["message-id"]);
  assert.match(second!["subject"]!, /^Shop: Back to normal: 2 events/);
  await people.sql.query("DELETE FROM alerts");
});

Deno.test("alerts: a recovery waits until the alert's message has been sent", async () => {
  const shop = await newShop();
  const question = { metric: "events" };
  const cause = { kind: "threshold", question, below: 1, over: "30m" };
  await shop.put("alerts/few", { title: "Few", on: cause, webhooks: ["chat"] });
  receiver.answer = () => new Response(null, { status: 500 });
  const [raised] = await shop.told();
  await shop.post([{ name: "page_view" }]);
  assert.deepEqual(await shop.told(), [], "the first try failed, and the next is in a minute");
  receiver.answer = () => new Response(null, { status: 204 });
  await people.sql.query(
    "UPDATE deliveries SET due_at = now() - interval '1 second' WHERE due_at IS NOT NULL",
  );
  const both = await shop.told();
  assert.deepEqual(both.map(({ id }) => id), [raised!.id, `${raised!.id}-over`]);
  await people.sql.query("DELETE FROM alerts");
});

Deno.test("alerts: a rate of nothing neither begins nor ends one", async () => {
  const shop = await newShop();
  const question = { metric: "bounceRate", filters: on("path", "is", "/a") };
  const cause = { kind: "threshold", question, above: 0.5, over: "30m" };
  await shop.put("alerts/bounce", { title: "Bounces", on: cause, webhooks: ["chat"] });
  assert.deepEqual(await shop.told(), []);
  await shop.post([{ name: "page_view", path: "/a", anonymousId: "a" }]);
  assert.equal((await shop.told()).length, 1);
  const gone = await people.app.admin("DELETE", `/v1/actors/a?project=${shop.id}`);
  assert.equal(gone.status, 200);
  assert.deepEqual(await shop.told(), [], "of no visits nothing is known");
  const { alerts } = (await people.app.admin("GET", `/v1/alerts?project=${shop.id}`)).body;
  assert.notEqual(alerts[0].firingSince, null);
  await people.sql.query("DELETE FROM alerts");
});

Deno.test("digests: questions, compared with the days before, of a segment", async () => {
  const shop = await newShop();
  const noon = Temporal.Now.zonedDateTimeISO(NOON_ZONE).startOfDay().subtract({ hours: 12 });
  const [yesterday, before] = [noon, noon.subtract({ days: 1 })].map((at) => at.epochMilliseconds);
  await shop.post(visits(yesterday!));
  await shop.post([
    ...visits(before!).filter(({ anonymousId }) => anonymousId === "b"),
    { name: "page_view", path: "/", anonymousId: "c", timestamp: before! },
    { name: "page_view", path: "/", anonymousId: "d", timestamp: before! },
    { name: "page_view", path: "/", anonymousId: "e", timestamp: before! },
  ]);
  const questions = CASES.slice(0, DIGEST_QUESTIONS_MAX).map(([question]) => question);
  const digest = { title: "Day", every: "daily", webhooks: ["chat"], questions };
  await shop.put("digests/all", digest);
  const amount = { goal: "buy", measure: "amount" };
  const readers = { segment: "readers", questions: [{ funnel: "way" }, { vital: "lcp" }, amount] };
  await shop.put("digests/readers", { ...digest, ...readers });
  const told = await shop.told();
  const sectionOf = (slug: string) =>
    told.find(({ data }) => data.slug === slug)!.data.sections[0]!;
  const { figures } = sectionOf("all");
  const figure = (name: string) => figures.find((each) => each.name === name)!;
  // Of four, one bought; of two, one: 25 points more.
  const rate = figure("Conversion rate of the funnel way");
  assert.deepEqual([rate.value, rate.points, rate.unit], [0.5, 0.25, "rate"]);
  const goal = figure("Conversions of the goal buy");
  assert.deepEqual([goal.value, goal.change, "currency" in goal], [1, 0, false]);
  assert.equal(figure("Visitors of the segment readers").value, 1);
  assert.equal(figures.length, 5 + DIGEST_QUESTIONS_MAX);
  const ofReaders = sectionOf("readers");
  assert.match(ofReaders.when, /, of the segment readers$/);
  assert.equal(new URL(ofReaders.url).searchParams.get("segment"), "readers");
  const asked = ofReaders.figures.slice(5).map(({ name, value, currency }) =>
    [name, value, currency].filter((each) => each !== undefined)
  );
  assert.deepEqual(asked, [
    ["Conversion rate of the funnel way", 0],
    ["LCP (p75)", 3000],
    ["Value of the goal buy", 0, "EUR"],
  ]);
  assert.equal(ofReaders.figures[0]!.value, 1, "the key figures are of the segment, too");

  const put = (body: Json) =>
    people.app.admin("PUT", `/v1/digests/other?project=${shop.id}`, { ...digest, ...body });
  const many = await put({ questions: [...questions, { vital: "lcp" }] });
  assertProblem(many, 400, "invalid_body");
  assert.equal(many.body.errors[0].field, "questions");
  const unknown = await put({ segment: "gone", questions: [{ goal: "gone" }] });
  assertProblem(unknown, 400, "invalid_body");
  assert.deepEqual(unknown.body.errors.map(({ field }: Json) => field), [
    "segment",
    "questions.0.goal",
  ]);
  const elsewhere = await people.app.project({ name: "Elsewhere" });
  const both = await put({ projects: [shop.id, elsewhere.id], questions: [{ goal: "buy" }] });
  assertProblem(both, 400, "invalid_body");
  assert.equal(both.body.errors[0].message, "Elsewhere has no goal of this slug.");
  await people.sql.query("DELETE FROM digests");
});

Deno.test("without receivers: a message is only listed", async () => {
  const shop = await newShop();
  const cause = { kind: "threshold", question: { metric: "visitors" }, below: 5 };
  await shop.put("alerts/few", { title: "Few", on: cause });
  await shop.put("digests/day", { title: "Day", every: "daily" });
  assert.deepEqual(await shop.told(), []);
  const { rows } = (await people.app.admin("GET", `/v1/deliveries?project=${shop.id}`)).body;
  assert.deepEqual(
    rows.map(({ source, channel, receiver, status }: Json) => [source, channel, receiver, status])
      .toSorted(),
    [["alert", "log", "", "sent"], ["digest", "log", "", "sent"]],
  );
  assert.equal(
    rows.find(({ source }: Json) => source === "alert").subject,
    "Shop: Visitors: 0 in the last 24h, below 5.",
  );
  const test = await people.app.admin("POST", `/v1/alerts/few/test?project=${shop.id}`);
  assert.deepEqual([test.body.deliveries[0].channel, test.body.deliveries[0].status], [
    "log",
    "sent",
  ]);
  await people.sql.query("DELETE FROM alerts");
  await people.sql.query("DELETE FROM digests");
});
