/** What a digest asks of the reads: its days, what they are compared with, and in which zone. */
import assert from "node:assert/strict";
import { createSealer } from "../../src/auth/sealed_value.ts";
import type { Project } from "../../src/auth/projects.ts";
import { DigestBody } from "../../src/notifications/digest_definition.ts";
import { digestMessage } from "../../src/notifications/digest_message.ts";
import type { Span } from "../../src/query/selection.ts";
import type { NotificationReads } from "../../src/notifications/notification_reads.ts";
import { NotificationRunner } from "../../src/notifications/notification_runner.ts";
import { sharedPeopleApp } from "../support/people_database.ts";

const people = sharedPeopleApp({ READ_TIMEOUT_MS: "120000" });

type Asked = readonly [project: string, report: string, params: Record<string, string>];

/** Reads that find nobody; `asked` hears what was asked. */
function emptyReads(asked: (...each: Asked) => void): NotificationReads {
  const totals = { visitors: 0, bounceRate: { value: 0 }, sessionDuration: { medianSeconds: 0 } };
  const change = { visitors: 0, sessionDuration: { medianSeconds: 0 } };
  const goals = [{ slug: "buy", title: "Buy", uniqueConversions: 0 }];
  const found = { totals, change, series: [], rows: [], goals, findings: [] };
  return {
    isBehind: () => Promise.resolve(false),
    read({ id, timezone }: Project, report: string, params: Record<string, string>) {
      asked(id, report, params);
      const { from, to, compare } = params;
      const dates = compare?.startsWith("{") ? JSON.parse(compare) : null;
      const query = {
        ...{ project: id, semantics: "x", timezone: params["timezone"] ?? timezone },
        ...{ from: `${from}T00:00:00Z`, to: `${to}T23:00:00Z` },
        compare: dates === null
          ? compare
          : { from: `${dates.from}T00:00:00Z`, to: `${dates.to}T23:00:00Z` },
      };
      return Promise.resolve({ ...found, query, pending: 0 });
    },
  } as unknown as NotificationReads;
}

/** What is asked of one project, in UTC, by a digest that is sent on a date. */
async function askedOf(every: string, date: string) {
  const asked: Asked[] = [];
  const project = { id: "prj_a", name: "A", timezone: "UTC" } as unknown as Project;
  const definition = DigestBody.parse({ title: "A", every, questions: [{ goal: "buy" }] });
  const slot = { date: Temporal.PlainDate.from(date), atMs: 0 };
  const { sections: [section] } = await digestMessage(emptyReads((...each) => asked.push(each)), {
    ...{ slug: "a", definition, projects: [project], slot, isTest: false, mayWait: true },
    ...{ timezone: "UTC", address: "https://stats.example" },
  });
  const [, , kpis] = asked.find(([, report]) => report === "kpis")!;
  const spans = asked.filter(([, , { interval }]) => interval === "month")
    .map(([, , { from, to }]) => [from, to]);
  return { kpis, spans, link: new URL(section!.url).searchParams.get("compare") };
}

Deno.test("digests: paths have letters in place of their bytes", async () => {
  const found = {
    pages: { rows: [{ path: "/%C3%A4?%E2%80%AE", visitors: 1 }] },
    acquisition: { rows: [{ value: "%C3%A4", visitors: 1 }] },
  };
  const empty = emptyReads(() => {});
  const reads: NotificationReads = {
    ...empty,
    read: async (project, report, params) => ({
      ...await empty.read(project, report, params) as object,
      ...found[report as keyof typeof found],
    } as never),
  };
  const filters = [
    { field: "path", op: "is", values: ["/%C3%A4"] },
    { field: "properties.path", op: "is", values: ["/%C3%A4"] },
  ];
  const { sections: [section] } = await digestMessage(reads, {
    ...{ slug: "a", definition: DigestBody.parse({ title: "A", every: "weekly", filters }) },
    ...{ isTest: false, mayWait: true },
    projects: [{ id: "prj_a", name: "A", timezone: "UTC" } as unknown as Project],
    slot: { date: Temporal.PlainDate.from("2026-03-02"), atMs: 0 },
    ...{ timezone: "UTC", address: "https://stats.example" },
  });
  const { rankings, when } = section!;
  // What turns the text about it stays as it is sent.
  assert.deepEqual(rankings.map(({ rows }) => rows[0]!.name), ["%C3%A4", "/ä?%E2%80%AE", "Buy"]);
  assert.match(when, /, where path is \/ä and properties\.path is \/%C3%A4$/);
});

Deno.test("digests: while events of its days are pending only a test is made", async () => {
  const spans: Span[] = [];
  const isBehind = (_: Project, span: Span) => {
    spans.push(span);
    return Promise.resolve(true);
  };
  const made = (isTest: boolean) =>
    digestMessage({ ...emptyReads(() => {}), isBehind }, {
      ...{ slug: "a", definition: DigestBody.parse({ title: "A", every: "weekly" }), isTest },
      mayWait: true,
      projects: [{ id: "prj_a", name: "A", timezone: "UTC" } as unknown as Project],
      slot: { date: Temporal.PlainDate.from("2026-03-02"), atMs: 0 },
      ...{ timezone: "UTC", address: "https://stats.example" },
    });
  await assert.rejects(
    made(false),
    /still being counted in A\. It is sent once they are; six hours/,
  );
  const [fromMs, toMs] = [Date.parse("2026-02-16"), Date.parse("2026-03-02")];
  assert.deepEqual(spans, [{ fromMs, toMs }]);
  assert.equal((await made(true)).isTest, true);
});

Deno.test("digests: a month is compared with the month before it, a week with the seven days", async () => {
  const midnight = (date: string) => `${date}T00:00:00.000Z`;
  const month = await askedOf("monthly", "2026-03-01");
  const january = '{"from":"2026-01-01","to":"2026-01-31"}';
  assert.deepEqual([month.kpis["from"], month.kpis["to"]], ["2026-02-01", "2026-02-28"]);
  assert.deepEqual([month.kpis["compare"], month.link], [january, january]);
  assert.deepEqual(month.spans, [
    [midnight("2026-02-01"), midnight("2026-03-01")],
    [midnight("2026-01-01"), midnight("2026-02-01")],
  ]);
  const week = await askedOf("weekly", "2026-03-02");
  assert.deepEqual([week.kpis["compare"], week.link], ["previous", "previous"]);
  assert.deepEqual(week.spans, [
    [midnight("2026-02-23"), midnight("2026-03-02")],
    [midnight("2026-02-16"), midnight("2026-02-23")],
  ]);
  const day = await askedOf("daily", "2026-03-02");
  assert.deepEqual(day.spans, [
    [midnight("2026-03-01"), midnight("2026-03-02")],
    [midnight("2026-02-28"), midnight("2026-03-01")],
  ]);
});

/** A runner at a time that tests set. */
function runnerAt(now: () => number, reads: NotificationReads): NotificationRunner {
  const { sql } = people;
  return new NotificationRunner({
    ...{ sql, mail: null, sealer: createSealer(sql, Date.now), reads, now },
    ...{ network: { resolve: () => Promise.resolve([]) }, publicUrl: null },
    log: { warn() {}, error() {} },
    randomText: () => "x",
    maySend: () => true,
    stopping: new AbortController().signal,
  });
}

Deno.test("digests: one whose days are not counted six hours after its time is sent, and says so", async () => {
  const { id } = await people.app.project({ name: "Shop" });
  const digest = `/v1/digests/shop?project=${id}`;
  const { status } = await people.app.admin("PUT", digest, { title: "The shop", every: "daily" });
  assert.equal(status, 201);
  let nowMs = 0;
  const isBehind = () => Promise.resolve(true);
  const runner = runnerAt(() => nowMs, { ...emptyReads(() => {}), isBehind });
  const leadsAt = async (time: string) => {
    nowMs = Date.parse(time);
    await people.sql.query("UPDATE digests SET due_at = '2020-01-01'");
    await runner.run(new AbortController().signal);
    const rows = await people.sql.query<{ message: { sections: { lead: string }[] } }>(
      "SELECT message FROM deliveries d JOIN projects p USING (project_id) WHERE public_id = $1::text",
      [id],
    );
    return rows.map(({ message }) => message.sections[0]!.lead);
  };
  try {
    // The first try of a server that was down, and one that is not late yet.
    assert.deepEqual(await leadsAt("2026-03-02T15:00:00Z"), []);
    assert.deepEqual(await leadsAt("2026-03-03T13:00:00Z"), []);
    assert.match(
      (await leadsAt("2026-03-03T14:00:00Z")).join(),
      /Not all events .* counted yet\.$/,
    );
  } finally {
    await people.sql.query("DELETE FROM digests");
  }
});

Deno.test("digests: one changed from daily to weekly on a date sends both, each once", async () => {
  const { id } = await people.app.project({ name: "Shop" });
  const { sql } = people;
  // A Monday.
  const runner = runnerAt(() => Date.parse("2026-03-02T12:00:00Z"), emptyReads(() => {}));
  const told = async (every: string) => {
    const path = `/v1/digests/shop?project=${id}`;
    const { status } = await people.app.admin("PUT", path, { title: "The shop", every });
    assert.ok(status < 300);
    await sql.query("UPDATE digests SET due_at = '2020-01-01'");
    await runner.run(new AbortController().signal);
    const { rows } = (await people.app.admin("GET", `/v1/deliveries?project=${id}`)).body;
    return rows.length;
  };
  try {
    assert.deepEqual(
      [await told("daily"), await told("daily"), await told("weekly"), await told("weekly")],
      [1, 1, 2, 2],
    );
  } finally {
    await sql.query("DELETE FROM digests");
  }
});
