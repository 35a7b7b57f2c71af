import assert from "node:assert/strict";
import { NOON_ZONE } from "./noon_zone.ts";
import { parsedMail } from "./parsed_mail.ts";
import { startMailServer } from "../mail/mail_server.ts";
import { assertProblem, newEvent, TestApp, type TestProject } from "../support/app.ts";
import { PeopleApp } from "../support/people_database.ts";
import { isSigned, startReceiver } from "./receiver.ts";
import {
  DIGEST_PROJECTS_MAX,
  DIGESTS_MAX,
  RECEIVING_PEOPLE_MAX,
} from "../../src/notifications/notification_limits.ts";
import { createSealer } from "../../src/auth/sealed_value.ts";
import { unsubscribeUrl } from "../../src/notifications/unsubscribe_link.ts";

const mailServer = await startMailServer();
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
});

const HOUR_MS = 3_600_000;
const HOSTILE = "/a<b>&“x”";

/** Yesterday's noon by a zone's clock. */
function yesterday(timezone: string): number {
  const today = Temporal.Now.zonedDateTimeISO(timezone).startOfDay();
  return today.subtract({ hours: 12 }).epochMilliseconds;
}

async function shop(visitors = 3): Promise<TestProject> {
  const project = await people.app.project({ name: "Shop", timezone: NOON_ZONE });
  const events = Array.from({ length: visitors }, (_, i) =>
    newEvent({
      name: "page_view",
      path: HOSTILE,
      anonymousId: `visitor ${i}`,
      timestamp: yesterday(NOON_ZONE) + i * 60_000,
    }));
  assert.equal((await people.app.post(project, events)).body.accepted, visitors);
  return project;
}

const pathOf = (project: string, slug = "day") => `/v1/digests/${slug}?project=${project}`;
const put = (project: string, body: unknown, slug?: string) =>
  people.app.admin("PUT", pathOf(project, slug), body);
const daily = (to: string[], more = {}) => ({ title: "The day", every: "daily", to, ...more });
const makeDue = (at = "2020-01-01") =>
  people.sql.query("UPDATE digests SET due_at = $1::text::timestamptz", [at]);
const dayAgo = (days: number) => Temporal.Now.plainDateISO(NOON_ZONE).subtract({ days }).toString();
const mailsTo = (email: string) => mailServer.received.filter(({ to }) => to.includes(email));

Deno.test("digests: a mail has the numbers, their definition, the range, and a link to the view", async () => {
  const project = await shop();
  const { email } = await people.person("viewer", [project.id]);
  const saved = await put(project.id, daily([email]));
  assert.equal(saved.status, 201, JSON.stringify(saved.body));
  const { nextAt, at, timezone, problem } = saved.body;
  assert.deepEqual([at, timezone, problem], ["08:00", null, null]);
  assert.ok(Date.parse(nextAt) > Date.now());
  const local = Temporal.Instant.from(nextAt).toZonedDateTimeISO(NOON_ZONE);
  assert.equal(local.toPlainTime().toString({ smallestUnit: "minute" }), "08:00");

  await makeDue();
  await people.app.app.runDue();
  await people.app.app.runDue();
  const [mail, ...others] = mailsTo(email);
  assert.equal(others.length, 0, "once");
  const { headers, text, html, pictures } = parsedMail(mail!.raw);
  assert.equal(headers["subject"], "Shop: 3 visitors");
  assert.match(headers["message-id"]!, /^<msg_[0-9a-f]{32}@example\.org>$/);
  assert.equal(headers["list-unsubscribe-post"], "List-Unsubscribe=One-Click");
  assert.equal(headers["auto-submitted"], "auto-generated");
  assert.match(html, /3 visitors/);
  assert.match(text, /Visitors: 3/);
  assert.match(text, /Visitors are distinct actors/);
  assert.ok(text.includes(`(${NOON_ZONE})`));
  assert.ok(html.includes("/a&#60;b&#62;&#38;“x”"), "a path is text");
  const link = /Open it: (\S+)/.exec(text)![1]!;
  const { origin, searchParams } = new URL(link);
  assert.equal(origin, "https://stats.example.org");
  assert.equal(searchParams.get("view"), "overview");
  assert.equal(searchParams.get("project"), project.id);
  assert.equal(pictures.length, 1);
  assert.equal(pictures[0]!.type, "image/png");
  assert.ok(html.includes(`cid:${pictures[0]!.cid}`));
  const { rows } = (await people.app.admin("GET", `/v1/deliveries?project=${project.id}`)).body;
  assert.equal(headers["message-id"], `<${rows[0].id}@example.org>`);
  assert.deepEqual([rows[0].status, rows[0].receiver], ["sent", email]);
  assert.ok(!people.app.logLines.join("\n").includes(email), "the log names no person");
});

Deno.test("digests: when their project's zone changes they come at the same local time", async () => {
  const { id } = await people.app.project({ name: "Shop", timezone: "UTC" });
  await put(id, daily([], { at: "08:15" }), "day");
  await put(id, daily([], { every: "monthly", timezone: "Asia/Kathmandu" }), "own");
  // Far ahead: the next 08:15 of UTC is over already in the zones east of it for a part of each day.
  await people.sql.query("UPDATE digests SET due_at = due_at + interval '7 days'");
  const next = async () => {
    const { digests } = (await people.app.admin("GET", `/v1/digests?project=${id}`)).body;
    return digests.map(({ nextAt }: { nextAt: string }) => Temporal.Instant.from(nextAt));
  };
  const local = (at: Temporal.Instant, tz: string) => `${at.toZonedDateTimeISO(tz)}`.slice(0, 19);
  const [before, own] = await next();
  for (const timezone of ["Pacific/Auckland", "Pacific/Chatham", "America/Los_Angeles", "UTC"]) {
    await people.app.admin("PATCH", `/v1/projects/${id}`, { timezone });
    const [after, stays] = await next();
    assert.equal(local(after, timezone), local(before, "UTC"));
    assert.ok(stays.equals(own), "one with a zone of its own stays");
  }
  await people.sql.query("DELETE FROM digests");
});

Deno.test("digests: one visitor is one visitor", async () => {
  const { email } = await people.person("owner");
  const project = await shop(1);
  await put(project.id, daily([email]));
  await makeDue();
  await people.app.app.runDue();
  const { headers, text } = parsedMail(mailsTo(email)[0]!.raw);
  assert.equal(headers["subject"], "Shop: 1 visitor");
  assert.match(text, /^1 visitor\.$/m);
});

Deno.test("digests: visitors of imported days without a count are shown as not known", async () => {
  const { id } = await people.app.project({ name: "Shop", timezone: NOON_ZONE });
  const days = Array.from({ length: 70 }, (_, ago) => ({
    ...{ day: dayAgo(ago + 1), dimension: "all" },
    rows: [{ value: null, pageviews: 30 }],
  }));
  const path = `/v1/projects/${id}/imported-history/goatcounter`;
  assert.equal((await people.app.admin("POST", path, { days })).status, 200);
  await put(id, daily([], { every: "monthly" }), "month");
  const sent = await people.app.admin("POST", `/v1/digests/month/test?project=${id}`);
  assert.equal(sent.body.deliveries[0].subject, "Test: Shop: Visitors not known");
});

Deno.test("digests: an imported day has its product's numbers, and is compared with", async () => {
  const project = await shop();
  const days = [1, 2].map((ago) => ({
    ...{ day: dayAgo(ago), dimension: "all" },
    rows: [{ value: null, visitors: 6, pageviews: 9 }],
  }));
  const told = async (id: string) => {
    const path = `/v1/projects/${id}/imported-history/plausible`;
    assert.equal((await people.app.admin("POST", path, { days })).status, 200);
    const { email } = await people.person("owner");
    await put(id, daily([email]));
    await makeDue();
    await people.app.app.runDue();
    const { headers, text } = parsedMail(mailsTo(email)[0]!.raw);
    return [headers["subject"], new URL(/Open it: (\S+)/.exec(text)![1]!).searchParams];
  };
  const [own] = await told(project.id);
  assert.equal(own, "Shop: 3 visitors (−50%)");
  const { id } = await people.app.project({ name: "Moving", timezone: NOON_ZONE });
  const [subject, link] = await told(id);
  assert.equal(subject, "Moving: 6 visitors (±0%)");
  assert.equal((link as URLSearchParams).get("interval"), "day");
});

Deno.test("digests: of many that were missed only the latest is sent", async () => {
  const project = await shop();
  const { email } = await people.person("viewer", [project.id]);
  await put(project.id, { ...daily([email]), every: "weekly" }, "week");
  await makeDue("2024-01-01");
  await people.app.app.runDue();
  assert.equal(mailsTo(email).length, 1);
  const { digests } = (await people.app.admin("GET", `/v1/digests?project=${project.id}`)).body;
  assert.ok(Date.parse(digests[0].nextAt) > Date.now());
});

Deno.test("digests: a corrected one sends what had failed, once; others wait", async () => {
  const project = await shop();
  const { email } = await people.person("viewer", [project.id]);
  await people.app.admin("PUT", `/v1/goals/buy?project=${project.id}`, {
    title: "Buy",
    match: { name: "purchase" },
  });
  const failing = daily([email], { questions: [{ goal: "buy" }] });
  assert.equal((await put(project.id, failing)).status, 201);
  const goal = `/v1/goals/buy?project=${project.id}`;
  assert.equal((await people.app.admin("DELETE", goal)).status, 204);
  await makeDue();
  await people.app.app.runDue();
  const list = await people.app.admin("GET", `/v1/digests?project=${project.id}`);
  assert.match(list.body.digests[0].problem, /no goal "buy"/);
  assert.equal(mailsTo(email).length, 0);
  const isAhead = async () =>
    Date.parse((await put(project.id, daily([email]))).body.nextAt) > Date.now();
  assert.equal(await isAhead(), false, "it failed");
  assert.equal(await isAhead(), false, "it is due");
  await people.app.app.runDue();
  assert.equal(mailsTo(email).length, 1);
  assert.equal(await isAhead(), true, "it was sent");
  await people.app.app.runDue();
  assert.equal(mailsTo(email).length, 1, "once");
});

Deno.test("digests: an unsubscribe link asks first, and ends only one person's messages, for good", async () => {
  const project = await shop();
  const [ada, bob] = [await people.person("viewer"), await people.person("viewer")];
  await put(project.id, daily([ada.email, bob.email]));
  await people.app.admin("POST", `/v1/digests/day/test?project=${project.id}`);
  const { headers } = parsedMail(mailsTo(ada.email)[0]!.raw);
  const url = new URL(/<(.+)>/.exec(headers["list-unsubscribe"]!)![1]!);
  assert.equal(url.origin, "https://stats.example.org");
  const path = url.pathname + url.search;
  const receivers = async () =>
    (await people.app.admin("GET", `/v1/digests?project=${project.id}`)).body.digests[0].to;
  const shown = await people.app.fetch(path);
  assert.equal(shown.status, 200);
  assert.match(shown.body, /<form method="post">/);
  assert.deepEqual(await receivers(), [ada.email, bob.email], "looking changes nothing");
  const ask = () =>
    people.app.fetch(path, {
      method: "POST",
      headers: { "Content-Type": "application/x-www-form-urlencoded" },
      body: "List-Unsubscribe=One-Click",
    });
  assert.equal((await ask()).status, 200);
  assert.equal((await ask()).status, 200);
  assert.deepEqual(await receivers(), [bob.email]);
  const { rows } = (await people.app.admin("GET", "/v1/audit?limit=50")).body;
  const ended = rows.filter(({ what }: { what: string }) => what === "told.unsubscribe");
  assert.deepEqual(ended.map(({ who }: { who: string }) => who), [ada.email]);
  const forged = path.slice(0, -4) + (path.endsWith("AAAA") ? "BBBB" : "AAAA");
  assertProblem(await people.app.fetch(forged, { method: "POST" }), 403, "invalid_link");
  assertProblem(await people.app.fetch("/v1/unsubscribe"), 403, "invalid_link");
  // A link names the project as it is called wherever it is moved to.
  const sealer = createSealer(people.sql, Date.now);
  const of = { source: "digest", slug: "day", email: bob.email } as const;
  const linkOf = (project: string) => unsubscribeUrl(sealer, "", { ...of, project });
  const elsewhere = await people.app.fetch(await linkOf("prj_gone"), { method: "POST" });
  assertProblem(elsewhere, 403, "invalid_link");
  assert.equal((await people.app.fetch(await linkOf(project.id), { method: "POST" })).status, 200);
  assert.deepEqual(await receivers(), []);
});

Deno.test("digests: who may not see the project any more gets nothing", async () => {
  const project = await shop();
  const { id, email } = await people.person("viewer", [project.id]);
  await put(project.id, daily([email]));
  await people.sql.query("UPDATE people SET projects = '{prj_other}' WHERE person_id = $1::text", [
    id,
  ]);
  const { body } = await people.app.admin("POST", `/v1/digests/day/test?project=${project.id}`);
  assert.deepEqual([body.deliveries[0].status, body.deliveries[0].outcome], [
    "dropped",
    "They may not see the project any more.",
  ]);
  assert.equal(mailsTo(email).length, 0);
});

Deno.test("digests: only people who may see all of its projects can be receivers", async () => {
  const [one, two] = [await people.app.project(), await people.app.project()];
  const { email } = await people.person("viewer", [one.id]);
  for (const to of [["nobody@example.com"], [email]]) {
    const refused = await put(one.id, daily(to, { projects: [one.id, two.id] }));
    assertProblem(refused, 400, "invalid_body");
    assert.equal(refused.body.errors[0].field, "to.0");
  }
  assert.equal((await put(one.id, daily([email]))).status, 201);
  const token = await people.app.token([one.id], "write");
  const reply = await people.app.fetch(pathOf(one.id), {
    method: "PUT",
    headers: { Authorization: `Bearer ${token}`, "Content-Type": "application/json" },
    body: JSON.stringify(daily([email], { projects: [one.id, two.id] })),
  });
  assertProblem(reply, 403, "insufficient_scope");
  const nowhere = daily([], { webhooks: ["none"] });
  assert.equal((await put(one.id, nowhere)).body.errors[0].field, "webhooks.0");
});

Deno.test("digests: invalid members are refused by name, and bounds are exact", async () => {
  const { id } = await people.app.project();
  const receiver = startReceiver();
  await people.app.admin("PUT", `/v1/webhooks/chat?project=${id}`, {
    title: "Chat",
    url: receiver.url,
  });
  const good = { title: "Day", every: "daily", webhooks: ["chat"] };
  const fields: [string, Record<string, unknown>][] = [
    ["title", { title: " " }],
    ["every", { every: "hourly" }],
    ["at", { at: "24:00" }],
    ["timezone", { timezone: "+01:00" }],
    ["webhooks", { webhooks: ["chat", "chat"] }],
    ["filters.0.field", { filters: [{ field: "nothing", op: "is", values: ["x"] }] }],
    ["to", { to: Array.from({ length: RECEIVING_PEOPLE_MAX + 1 }, (_, i) => `a${i}@example.com`) }],
    ["projects", {
      projects: Array.from({ length: DIGEST_PROJECTS_MAX + 1 }, (_, i) => `prj_${i}`),
    }],
  ];
  for (const [field, change] of fields) {
    const refused = await put(id, { ...good, ...change });
    assertProblem(refused, 400, "invalid_body");
    assert.equal(refused.body.errors[0].field, field, JSON.stringify(refused.body.errors));
  }
  assertProblem(await put(id, good, "Not a slug"), 400, "invalid_parameter");
  for (let n = 0; n < DIGESTS_MAX; n++) assert.equal((await put(id, good, `d-${n}`)).status, 201);
  assertProblem(await put(id, good, "one-more"), 409, "conflict");
  assert.equal((await put(id, { ...good, at: "23:59" }, "d-0")).status, 200);
  await people.sql.query("DELETE FROM digests");
  await receiver.close();
});

Deno.test("digests: of several projects, to a webhook, with filters", async () => {
  const [one, two] = [await shop(2), await shop(4)];
  const receiver = startReceiver();
  try {
    const hook = await people.app.admin("PUT", `/v1/webhooks/chat?project=${one.id}`, {
      title: "Chat",
      url: receiver.url,
    });
    const body = {
      ...daily([], { webhooks: ["chat"], projects: [two.id, one.id] }),
      filters: [{ field: "path", op: "is", values: [HOSTILE] }],
    };
    assert.equal((await put(one.id, body)).status, 201);
    await makeDue();
    await people.app.app.runDue();
    const [got, ...others] = receiver.received;
    assert.equal(others.length, 0);
    assert.ok(await isSigned(got!, hook.body.secret));
    const { type, data } = JSON.parse(got!.body);
    assert.equal(type, "digest.made");
    assert.deepEqual(
      data.sections.map((
        { project, figures }: { project: string; figures: { value: number }[] },
      ) => [project, figures[0]!.value]),
      [[two.id, 4], [one.id, 2]],
    );
    const { from, to } = data.sections[0].range;
    assert.ok([23, 24, 25].includes((Date.parse(to) - Date.parse(from)) / HOUR_MS));
    assert.match(data.sections[0].url, /filters=/);
  } finally {
    await receiver.close();
  }
});

Deno.test("digests: projects of all zones have the same days, which are over", async () => {
  // At any moment it is another date in one of them than in the other.
  const zone = "Pacific/Kiritimati";
  const east = await people.app.project({ name: "East", timezone: zone });
  const west = await people.app.project({ name: "West", timezone: "Etc/GMT+12" });
  const receiver = startReceiver();
  try {
    const hook = { title: "Chat", url: receiver.url };
    await people.app.admin("PUT", `/v1/webhooks/chat?project=${east.id}`, hook);
    const told = async (timezone: string | null) => {
      const body = daily([], { webhooks: ["chat"], projects: [east.id, west.id], timezone });
      assert.ok((await put(east.id, body)).status < 300);
      await people.app.admin("POST", `/v1/digests/day/test?project=${east.id}`);
      const { sections } = JSON.parse(receiver.received.at(-1)!.body).data;
      const ranges = sections.map(({ range }: { range: unknown }) => range);
      assert.deepEqual(ranges[0], ranges[1]);
      assert.ok(Date.parse(ranges[0].to) <= Date.now());
      const linked = sections.map(({ url }: { url: string }) =>
        new URL(url).searchParams.get("timezone")
      );
      return [ranges[0].timezone, ...linked];
    };
    assert.deepEqual(await told(null), [zone, null, zone]);
    assert.deepEqual(await told("Europe/Berlin"), Array(3).fill("Europe/Berlin"));
  } finally {
    await receiver.close();
  }
});

Deno.test("digests: without a mail server, mail receivers are refused by name, and webhooks work", async () => {
  const app = await new TestApp({ READ_TIMEOUT_MS: "120000" }).start();
  const receiver = startReceiver();
  try {
    const { id } = await app.project();
    const path = `/v1/digests/day?project=${id}`;
    assertProblem(
      await app.admin("PUT", path, daily(["a@example.com"])),
      409,
      "mail_not_configured",
    );
    const chat = { title: "Chat", url: receiver.url, format: "slack" };
    await app.admin("PUT", `/v1/webhooks/chat?project=${id}`, chat);
    const saved = await app.admin("PUT", path, daily([], { webhooks: ["chat"] }));
    assert.equal(saved.status, 201, JSON.stringify(saved.body));
    const sent = await app.admin("POST", `/v1/digests/day/test?project=${id}`);
    assert.equal(sent.body.deliveries[0].status, "sent", JSON.stringify(sent.body));
    assert.match(JSON.parse(receiver.received[0]!.body).text, /^Test: Test: 0 visitors/);
  } finally {
    await app.stop();
    await receiver.close();
  }
});
