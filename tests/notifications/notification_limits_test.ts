/** The bounds of what is told, each from both sides; what the API refuses stands with digests and alerts. */
import assert from "node:assert/strict";
import { createSealer } from "../../src/auth/sealed_value.ts";
import { listProjects } from "../../src/auth/projects.ts";
import { AlertBody } from "../../src/notifications/alert_definition.ts";
import { questionName } from "../../src/notifications/alert_question.ts";
import {
  claimDelivery,
  deleteOldDeliveries,
  noteOutcome,
  storeDeliveries,
} from "../../src/notifications/deliveries.ts";
import { DigestBody } from "../../src/notifications/digest_definition.ts";
import { digestMessage } from "../../src/notifications/digest_message.ts";
import { type Message, plainLine } from "../../src/notifications/message.ts";
import { ServedProjects } from "../../src/db/served_projects.ts";
import * as limits from "../../src/notifications/notification_limits.ts";
import type { NotificationReads } from "../../src/notifications/notification_reads.ts";
import { NotificationRunner } from "../../src/notifications/notification_runner.ts";
import {
  ALERTS,
  claimNotification,
  isAnythingDue,
} from "../../src/notifications/notification_store.ts";
import { openUnsubscription, unsubscribeUrl } from "../../src/notifications/unsubscribe_link.ts";
import { postWebhook } from "../../src/notifications/webhook_request.ts";
import { onBothEngines } from "../support/databases.ts";
import { openWithProjects } from "../support/event_rows.ts";
import { withMembers } from "../support/fake_sql.ts";
import { sharedPeopleApp } from "../support/people_database.ts";
import { startReceiver } from "./receiver.ts";

const people = sharedPeopleApp({ READ_TIMEOUT_MS: "120000" });
const MESSAGE: Message = {
  ...{ kind: "test", slug: "a", title: "A", subject: "A", isTest: false, sections: [] },
};

const many = (count: number, of: (i: number) => unknown) =>
  Array.from({ length: count }, (_, i) => of(i));

Deno.test("limits: what a definition may name is limited exactly", () => {
  const digest = { title: "A", every: "daily" };
  const question = { metric: "visitors" };
  const cases: [string, number, (i: number) => unknown][] = [
    ["to", limits.RECEIVING_PEOPLE_MAX, (i) => `a${i}@example.com`],
    ["webhooks", limits.RECEIVING_WEBHOOKS_MAX, (i) => `hook-${i}`],
    ["projects", limits.DIGEST_PROJECTS_MAX, (i) => `prj_${i}`],
    ["questions", limits.DIGEST_QUESTIONS_MAX, () => question],
  ];
  for (const [member, max, of] of cases) {
    const fits = (count: number) =>
      DigestBody.safeParse({ ...digest, [member]: many(count, of) }).success;
    assert.deepEqual([fits(max), fits(max + 1)], [true, false], member);
  }
  const on = { kind: "threshold", question, above: 1 };
  const titled = (length: number) => AlertBody.safeParse({ title: "x".repeat(length), on }).success;
  assert.deepEqual([titled(1), titled(200), titled(0), titled(201)], [true, true, false, false]);
});

Deno.test("limits: texts of a message are cut exactly", () => {
  const named = (length: number) =>
    questionName({ match: { name: "x".repeat(length), filters: [] }, filters: [], segment: null });
  const nameMax = limits.QUESTION_NAME_LENGTH_MAX - "Events ".length;
  assert.equal(named(nameMax), `Events ${"x".repeat(nameMax)}`);
  assert.equal(named(nameMax + 1), `Events ${"x".repeat(nameMax - 1)}…`);
  const max = limits.MESSAGE_TEXT_LENGTH_MAX;
  assert.equal(plainLine("x".repeat(max)), "x".repeat(max));
  assert.equal(plainLine("x".repeat(max + 1)), `${"x".repeat(max - 1)}…`);
});

Deno.test("limits: a digest has at most so many rows and findings", async () => {
  const { id } = await people.app.project({ name: "Shop" });
  const [project] = await listProjects(people.sql, [id]);
  const totals = { visitors: 1, sessions: 1, pageviews: 1, events: 1, bounceRate: { value: 0 } };
  const kpis = { totals: { ...totals, sessionDuration: { medianSeconds: 1 } }, series: [] };
  const change = { visitors: 0, sessions: 0, pageviews: 0, bounceRatePoints: 0 };
  const told = async (count: number) => {
    const rows = many(count, (i) => ({ value: `v${i}`, path: `/${i}`, visitors: 1 }));
    const replies: Record<string, unknown> = {
      kpis: { ...kpis, change: { ...change, sessionDuration: { medianSeconds: 0 } } },
      acquisition: { rows },
      pages: { rows },
      goals: { goals: many(count, (i) => ({ title: `Goal ${i}`, uniqueConversions: i })) },
      insights: { findings: many(count, (i) => ({ text: `Finding ${i}` })) },
    };
    const query = { project: id, from: "2026-01-01T00:00:00Z", to: "2026-01-02T00:00:00Z" };
    const frame = { query: { ...query, timezone: "UTC", semantics: "x" }, pending: 0 };
    const reads = {
      isBehind: () => Promise.resolve(false),
      read: (_: unknown, report: string) =>
        Promise.resolve({ ...replies[report] as object, ...frame }),
    } as unknown as NotificationReads;
    const definition = DigestBody.parse({ title: "A", every: "daily" });
    const slot = { date: Temporal.PlainDate.from("2026-01-02"), atMs: 0 };
    const { sections: [section] } = await digestMessage(reads, {
      ...{ slug: "a", definition, projects: [project!], slot, isTest: false, mayWait: true },
      ...{ timezone: "UTC", address: "" },
    });
    return [section!.rankings.map(({ rows }) => rows.length), section!.findings.length];
  };
  const { DIGEST_ROWS: rows, DIGEST_FINDINGS: findings } = limits;
  assert.deepEqual(await told(rows), [[rows, rows, rows], findings]);
  assert.deepEqual(await told(rows + 1), [[rows, rows, rows], findings]);
  assert.deepEqual(await told(findings), [[findings, findings, findings], findings]);
  assert.deepEqual(await told(findings - 1), [many(3, () => findings - 1), findings - 1]);
});

Deno.test("limits: what one server has claimed is nobody else's until the claim expires", async () => {
  const { id } = await people.app.project();
  const on = { kind: "silence", minutes: 5 };
  await people.app.admin("PUT", `/v1/alerts/a?project=${id}`, { title: "A", on });
  const { sql } = people;
  const [{ project_id: projectId }] = await sql.query<{ project_id: number }>(
    "SELECT project_id FROM projects WHERE public_id = $1::text",
    [id],
  ) as [{ project_id: number }];
  await storeDeliveries(sql, {
    ...{ projectId, project: id, source: "alert", slug: "a", occasion: "1", message: MESSAGE },
    ...{ nowMs: Date.now(), to: [], webhooks: ["chat"] },
  });
  const laterMs = Date.now() + 3_600_000;
  const takes = {
    alerts: { take: () => claimNotification(sql, ALERTS, laterMs), ms: limits.CHECK_CLAIM_MS },
    deliveries: { take: () => claimDelivery(sql, laterMs), ms: limits.SEND_CLAIM_MS },
  };
  for (const [table, { take, ms }] of Object.entries(takes)) {
    assert.notEqual(await take(), null, table);
    assert.equal(await take(), null, `${table}: it is taken`);
    const [row] = await sql.query<{ isAhead: boolean; isBound: boolean }>(
      `SELECT claimed_until > now() AS "isAhead",
        claimed_until <= now() + $1::int8 * interval '1 ms' AS "isBound" FROM ${table}`,
      [ms],
    );
    assert.deepEqual(row, { isAhead: true, isBound: true }, table);
    const moveTo = (by: string) =>
      sql.query(`UPDATE ${table} SET claimed_until = now() + $1::text::interval`, [by]);
    await moveTo("1 hour");
    assert.equal(await take(), null, `${table}: its time is not over`);
    await moveTo("0 s");
    assert.notEqual(await take(), null, `${table}: its time is over`);
  }
  await sql.query("DELETE FROM alerts");

  const [{ at }] = await sql.query<{ at: Date }>("SELECT created_at AS at FROM deliveries") as [
    { at: Date },
  ];
  const goneMs = at.getTime() + limits.DELIVERY_KEPT_MS;
  assert.equal(await deleteOldDeliveries(sql, goneMs), 0);
  assert.equal(await deleteOldDeliveries(sql, goneMs + 1), 1);
});

Deno.test("limits: an unsubscribe link expires when it says", async () => {
  let nowMs = Math.floor(Date.now() / 1000) * 1000;
  const sealer = createSealer(people.sql, () => nowMs);
  const of = { project: "prj_one", source: "digest", slug: "a", email: "a@example.com" } as const;
  const url = new URL(await unsubscribeUrl(sealer, "https://stats.example.org", of));
  const opened = () => openUnsubscription(sealer, url.searchParams.get("token")!);
  nowMs += (limits.UNSUBSCRIBE_TTL_S - 1) * 1000;
  assert.deepEqual(await opened(), of);
  nowMs += 1000;
  assert.equal(await opened(), null);
});

Deno.test("limits: so many messages are sent at once", async () => {
  const { id } = await people.app.project();
  const receiver = startReceiver();
  let [underWay, most] = [0, 0];
  const enough = Promise.withResolvers<void>();
  receiver.answer = async () => {
    most = Math.max(most, ++underWay);
    if (underWay >= limits.SENDS_AT_ONCE) enough.resolve();
    await enough.promise;
    underWay--;
    return new Response(null, { status: 204 });
  };
  try {
    const webhooks = many(limits.RECEIVING_WEBHOOKS_MAX, (i) => `hook-${i}`);
    for (const slug of webhooks) {
      const hook = { title: "Chat", url: receiver.url };
      await people.app.admin("PUT", `/v1/webhooks/${slug}?project=${id}`, hook);
    }
    const digest = { title: "Day", every: "daily", webhooks };
    await people.app.admin("PUT", `/v1/digests/day?project=${id}`, digest);
    await people.sql.query("UPDATE digests SET due_at = '2020-01-01'");
    await people.app.app.runDue();
    assert.deepEqual([receiver.received.length, most], [webhooks.length, limits.SENDS_AT_ONCE]);
  } finally {
    await receiver.close();
    await people.sql.query("DELETE FROM digests");
  }
});

Deno.test("limits: unresponsive receivers of one project do not delay another's messages", async () => {
  const { sql } = people;
  const known = new Map<string, number>();
  const publicIds = [(await people.app.project()).id, (await people.app.project()).id];
  for (
    const row of await sql.query<{ project_id: number; public_id: string }>(
      "SELECT project_id, public_id FROM projects",
    )
  ) known.set(row.public_id, row.project_id);
  const nowMs = Date.now();
  for (const [i, webhooks] of [["a", "b", "c", "d"], ["e", "f"]].entries()) {
    const project = publicIds[i]!;
    await storeDeliveries(sql, {
      ...{ projectId: known.get(project)!, project, source: "alert", slug: "a", occasion: "1" },
      ...{ message: MESSAGE, nowMs: nowMs + i, to: [], webhooks },
    });
  }
  const taken: string[] = [];
  for (let i = 0; i < 6; i++) taken.push((await claimDelivery(sql, nowMs + 1))!.receiver);
  assert.deepEqual(taken, ["a", "e", "b", "f", "c", "d"]);
  // With one at a time, both have their turns, too.
  await sql.query("UPDATE deliveries SET claimed_until = NULL");
  const served = new ServedProjects();
  const turns: string[] = [];
  for (let i = 0; i < 6; i++) {
    const delivery = (await claimDelivery(sql, nowMs + 1, served))!;
    turns.push(delivery.receiver);
    await noteOutcome(sql, delivery, { status: "sent", words: "Sent." }, nowMs);
  }
  assert.deepEqual(turns, taken);
  await sql.query("DELETE FROM deliveries");
});

/** What comes of a receiver that answers with this, and then says nothing more. */
async function answering(answer: string): Promise<string> {
  const listener = Deno.listen({ port: 0, hostname: "127.0.0.1" });
  const { port } = listener.addr as Deno.NetAddr;
  const outcome = postWebhook({
    ...{ url: `http://127.0.0.1:${port}/`, byOperator: true, headers: {}, body: "{}" },
    signal: new AbortController().signal,
  }, { resolve: () => Promise.resolve([]) });
  const connection = await listener.accept();
  await connection.write(new TextEncoder().encode(answer)).catch(() => {});
  const { words } = await outcome;
  connection.close();
  listener.close();
  return words;
}

Deno.test("limits: only so much of an answer is read, without waiting for the rest", async () => {
  const most = limits.WEBHOOK_ANSWER_HEAD_BYTES_MAX;
  assert.equal(await answering("HTTP/1.1 204 No Content\r\n"), "Answered 204.");
  const line = (length: number) => `HTTP/1.1 204 ${"x".repeat(length - 13)}`;
  assert.equal(await answering(`${line(most - 2)}\r\n`), "Answered 204.");
  // Without an end of the line: looked at as it is, once so much has come.
  assert.equal(await answering(line(most)), "Answered 204.");
  assert.equal(await answering("x".repeat(most)), "The answer was no HTTP.");
});

Deno.test("limits: a run has a time limit; the next one does the rest", async () => {
  const { id } = await people.app.project();
  const on = { kind: "threshold", question: { metric: "visitors" }, above: 1 };
  const slugs = ["a", "b", "c"];
  for (const slug of slugs) {
    await people.app.admin("PUT", `/v1/alerts/${slug}?project=${id}`, { title: slug, on });
  }
  await people.sql.query("UPDATE alerts SET due_at = now() - interval '1 hour'");
  // What waits does not wait for looks that take all of the time.
  await people.sql.query(
    `INSERT INTO deliveries (delivery_id, project_id, source, slug, channel, receiver, message, created_at,
      due_at)
    SELECT 'msg_waiting', project_id, 'webhook', 'gone', 'webhook', 'gone', '{"sections":[]}', now(), now()
    FROM projects WHERE public_id = $1::text`,
    [id],
  );
  let elapsedMs = 0;
  let looks = 0;
  const query = { project: id, from: "2026-01-01T00:00:00Z", to: "2026-01-02T00:00:00Z" };
  const reply = { totals: { visitors: 0 }, query: { ...query, semantics: "x" }, pending: 0 };
  const read = () => {
    // The second look ends as the run's time is over.
    elapsedMs = ++looks === 1 ? limits.NOTIFICATION_RUN_MS_MAX - 1 : limits.NOTIFICATION_RUN_MS_MAX;
    return Promise.resolve(reply);
  };
  const { now } = performance;
  performance.now = () => elapsedMs;
  try {
    const runner = new NotificationRunner({
      ...{ sql: people.sql, mail: null, sealer: createSealer(people.sql, Date.now) },
      ...{ network: { resolve: () => Promise.resolve([]) }, publicUrl: null, now: Date.now },
      ...{
        reads: { read, isBehind: () => Promise.resolve(false) } as unknown as NotificationReads,
      },
      ...{
        log: { warn() {}, error() {} },
        randomText: () => "x",
        maySend: () => true,
        stopping: new AbortController().signal,
      },
    });
    await runner.run(new AbortController().signal);
    assert.equal(looks, 2);
    const [sent] = await people.sql.query(
      "SELECT status FROM deliveries WHERE delivery_id = 'msg_waiting'",
    );
    assert.deepEqual(sent, { status: "dropped" });
    elapsedMs = 0;
    await runner.run(new AbortController().signal);
    assert.equal(looks, slugs.length);
  } finally {
    performance.now = now;
    await people.sql.query("DELETE FROM alerts");
    await people.sql.query("DELETE FROM deliveries");
  }
});

onBothEngines(
  "limits: whether anything is due is found by index before the planner knows of twenty thousand messages",
  async (_, db) => {
    const database = await openWithProjects(db);
    const nowMs = Date.now();
    const plans: string[] = [];
    const explained = withMembers(database, {
      query: async (text, params) => {
        const rows = await database.query<{ "QUERY PLAN": string }>(`EXPLAIN ${text}`, params);
        plans.push(rows.map((row) => row["QUERY PLAN"]).join("\n"));
        return await database.query(text, params);
      },
    });
    assert.equal(await isAnythingDue(database, nowMs), false, "nothing is there");
    await database.query(
      `INSERT INTO deliveries (delivery_id, project_id, source, slug, channel, receiver, message, status, created_at)
      SELECT 'msg_' || i, 1, 'alert', 'a', 'mail', 'a@example.com', '{}', 'sent', now()
      FROM generate_series(1, 20000) i`,
    );
    assert.equal(await isAnythingDue(explained, nowMs), false);
    assert.doesNotMatch(plans.join("\n"), /Seq Scan on deliveries/);
    const dueAt = (ms: number) =>
      database.query(
        "UPDATE deliveries SET due_at = $1::text::timestamptz WHERE delivery_id = 'msg_5'",
        [new Date(ms).toISOString()],
      );
    await dueAt(nowMs + 1);
    assert.equal(await isAnythingDue(database, nowMs), false);
    await dueAt(nowMs);
    assert.equal(await isAnythingDue(database, nowMs), true);
  },
);

onBothEngines(
  "limits: a message is claimed by index before the planner knows of twenty thousand messages",
  async (_, db) => {
    const database = await openWithProjects(db);
    await database.script("ALTER TABLE deliveries SET (autovacuum_enabled = false)");
    await database.query(
      `INSERT INTO deliveries (delivery_id, project_id, source, slug, channel, receiver, message, status,
        created_at, due_at)
      SELECT 'msg_' || i, 1, 'alert', 'a', 'mail', 'a@example.com', '{}', 'sent', now(),
        CASE WHEN i <= 3 THEN now() - i * interval '1 minute' END
      FROM generate_series(1, 20000) i`,
    );
    const [claimed, read] = await database.transaction(async (tx) => {
      const taken = await claimDelivery(tx, Date.now());
      const [row] = await tx.query<{ rows: number }>(
        `SELECT (seq_tup_read + coalesce(idx_tup_fetch, 0))::int AS rows
        FROM pg_stat_xact_user_tables WHERE relname = 'deliveries'`,
      );
      return [taken, row!.rows];
    });
    assert.equal(claimed?.id, "msg_3", "the one that has waited longest");
    assert.ok(read <= 20, `${read} rows were read`);
  },
);
