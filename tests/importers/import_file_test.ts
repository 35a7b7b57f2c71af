import assert from "node:assert/strict";
import { parquetWriteBuffer } from "hyparquet-writer";
import { ALLOWED_BODY_MS_MAX } from "../../src/http/still_allowed.ts";
import { UPLOAD_BYTES_MAX } from "../../src/importers/importer_limits.ts";
import { loadSource, SOURCE_NAMES } from "../../src/importers/sources.ts";
import { assertProblem, type Json, sharedApp, type TestProject } from "../support/app.ts";
import { HeldBody } from "../support/held_body.ts";
import { pause } from "../support/server_process.ts";
import { SHOP, shopExport } from "./shop_exports.ts";

const app = sharedApp();

interface File {
  readonly name: string;
  readonly bytes: Uint8Array;
}

async function send(
  project: TestProject,
  { name, bytes }: File,
  query: Readonly<Record<string, string>> = {},
  token = app.app.controlToken,
) {
  const parameters = new URLSearchParams({ name, ...query });
  return await app.fetch(`/v1/projects/${project.id}/import/file?${parameters}`, {
    method: "POST",
    headers: { "Authorization": `Bearer ${token}`, "Content-Type": "application/octet-stream" },
    body: bytes as Uint8Array<ArrayBuffer>,
  });
}

const fileOf = (name: string, text: string): File => ({
  name,
  bytes: new TextEncoder().encode(text),
});

const count = (rows: readonly Json[], value: string) =>
  rows.find((row) => row.value === value)?.visitors ?? 0;

/** What is read of the shop's history. */
async function figures({ id }: TestProject) {
  const range = `project=${id}&from=${SHOP.from}&to=${SHOP.to}`;
  const read = async (path: string) => (await app.admin("GET", path)).body;
  const { totals } = await read(`/v1/kpis?${range}`);
  const rowsBy = async (by: string) => (await read(`/v1/acquisition?${range}&by=${by}`)).rows;
  const trend = await read(`/v1/trends?${range}&event=signup&measure=total`);
  return {
    visitors: totals.visitors,
    sessions: totals.sessions,
    pageviews: totals.pageviews,
    signups: trend.series.reduce((sum: number, { value }: { value: number }) => sum + value, 0),
    germans: count(await rowsBy("country"), "DE"),
    phones: count(await rowsBy("device"), "mobile"),
    safaris: count(await rowsBy("browser"), "Safari"),
    windows: count(await rowsBy("os"), "Windows"),
  };
}

const { from: _from, to: _to, ...expected } = SHOP;
const EXPECTED = { ...expected, safaris: SHOP.phones, windows: SHOP.visitors - SHOP.phones };
const EVENTS = SHOP.pageviews + SHOP.signups;

for (const source of SOURCE_NAMES) {
  Deno.test(`${source}: a look stores nothing, an import stores once, a later export tops up`, async () => {
    const project = await app.project();
    const early = shopExport(source, 4);
    const { title, notes } = await loadSource(source);

    const looked = await send(project, early, { dryRun: "true" });
    assert.equal(looked.status, 200, JSON.stringify(looked.body));
    const earlyEvents = 4 * 3 + 2;
    assert.deepEqual(
      [looked.body.from, looked.body.title, looked.body.events, looked.body.known],
      [source, title, earlyEvents, 0],
    );
    assert.equal(looked.body.notes.length, notes.length);
    assert.deepEqual(looked.body.names, [
      { what: "page_view", count: 12 },
      { what: "signup", count: 2 },
    ]);
    assert.deepEqual(looked.body.days, { first: SHOP.from, last: SHOP.from });
    assert.equal(looked.body.sample.length, 2);
    assert.deepEqual(await app.stored(project), []);

    const stored = await send(project, early, { from: source });
    assert.deepEqual([stored.body.events, stored.body.known], [earlyEvents, 0]);
    const whole = await send(project, shopExport(source), { from: source });
    assert.deepEqual([whole.body.events, whole.body.known], [EVENTS, earlyEvents]);
    assert.deepEqual(await figures(project), EXPECTED);

    const again = await send(project, shopExport(source));
    assert.deepEqual([again.body.events, again.body.known], [EVENTS, EVENTS]);
    assert.deepEqual(await figures(project), EXPECTED);
  });
}

Deno.test("a file of another product than was named is refused, and nothing of it is stored", async () => {
  const project = await app.project();
  const wrong = await send(project, shopExport("mixpanel"), { from: "amplitude" });
  assertProblem(wrong, 400, "unreadable_file");
  assert.match(wrong.body.detail, /mixpanel\.jsonl, line 1: .* say `--from mixpanel`/);
  assertProblem(await send(project, fileOf("x.txt", "hello\n")), 400, "unreadable_file");
  assertProblem(await send(project, fileOf("x.txt", "")), 400, "unreadable_file");
  assertProblem(
    await send(project, shopExport("mixpanel"), { from: "nobody" }),
    400,
    "invalid_parameter",
  );
  for (const timeZone of ["Middle/Earth", "PST", "+02:00"]) {
    const zone = await send(project, shopExport("mixpanel"), { timeZone });
    assertProblem(zone, 400, "invalid_parameter");
    assert.deepEqual(zone.body.errors.map((part: { field: string }) => part.field), ["timeZone"]);
  }
  const { name, bytes } = shopExport("posthog");
  const cut = await send(project, { name, bytes: bytes.subarray(0, bytes.length - 30) }, {
    from: "posthog",
    dryRun: "true",
  });
  assertProblem(cut, 400, "unreadable_file");
  assert.match(cut.body.detail, /events\.jsonl\.gz: it is cut off or damaged/);
  assert.deepEqual(await app.stored(project), []);
});

Deno.test("Parquet is left to the command line, whichever product is named", async () => {
  const project = await app.project();
  const text = (name: string, value: string) => ({ name, type: "STRING" as const, data: [value] });
  const bytes = new Uint8Array(parquetWriteBuffer({
    columnData: [
      text("uuid", crypto.randomUUID()),
      text("event", "x"),
      text("distinct_id", "ada"),
      text("properties", "{}"),
      text("timestamp", "2026-05-01 10:00:00"),
    ],
  }));
  for (const from of [{}, { from: "posthog" }, { from: "mixpanel" }]) {
    const refused = await send(project, { name: "e.parquet", bytes }, from);
    assertProblem(refused, 400, "unreadable_file");
    assert.match(
      refused.body.detail,
      /e\.parquet: it is Parquet, which the command line alone reads/,
    );
  }
  assert.deepEqual(await app.stored(project), []);
});

Deno.test("what the server would refuse is reported with its file and line", async () => {
  const project = await app.project();
  const row = (uuid: string, more: Json = {}) =>
    JSON.stringify({
      uuid,
      event: "x",
      distinct_id: "d",
      properties: {},
      timestamp: "2026-05-01",
      ...more,
    });
  const lines = [
    row("00000000-0000-4000-8000-000000000001"),
    "no json",
    row("00000000-0000-4000-8000-000000000002", { timestamp: "02.01.2027 10:00" }),
    row("00000000-0000-4000-8000-000000000003", {
      event: "y".repeat(201),
      timestamp: "1999-01-01",
    }),
    row("00000000-0000-4000-8000-000000000004", { timestamp: null }),
    row("00000000-0000-4000-8000-000000000005"),
  ];
  for (const dryRun of ["true", "false"]) {
    const { body } = await send(project, fileOf("e.jsonl", lines.join("\n")), { dryRun });
    assert.deepEqual([body.events, body.refused], [2, 4]);
    // Of what can be stored, as the events are.
    assert.deepEqual(body.days, { first: "2026-05-01", last: "2026-05-01" });
    assert.deepEqual(body.names, [{ what: "x", count: 2 }]);
    assert.equal(body.sample.length, 1);
    assert.deepEqual(
      body.refusals.map(({ file, line, code }: Json) => `${file} ${line} ${code}`),
      [
        "e.jsonl 2 invalid_json",
        "e.jsonl 3 invalid_timestamp",
        "e.jsonl 4 too_long",
        "e.jsonl 5 invalid_timestamp",
      ].sort((a, b) => a < b ? -1 : 1),
    );
  }
  assert.equal((await app.stored(project)).length, 2);
});

Deno.test("a file at the limit is taken, a larger one is not; who may not is told so", async () => {
  const project = await app.project();
  const line = new TextDecoder().decode(shopExport("mixpanel").bytes).split("\n")[0]!;
  const sized = (bytes: number) => fileOf("m.jsonl", `${line}\n`.padEnd(bytes, "\n"));
  const { body } = await send(project, sized(UPLOAD_BYTES_MAX));
  assert.deepEqual([body.events, body.refused], [1, 0]);
  assertProblem(await send(project, sized(UPLOAD_BYTES_MAX + 1)), 413, "body_too_large");
  const looked = await send(project, shopExport("ga4"), { dryRun: "yes" });
  assertProblem(looked, 400, "invalid_parameter");
  const reader = await app.token([project.id], "read write");
  assertProblem(await send(project, shopExport("ga4"), {}, reader), 403, "insufficient_scope");
});

Deno.test("imports that are held until their token is revoked store nothing, and are none of the audit's", async () => {
  const project = await app.project();
  const token = await app.token([project.id], "admin");
  const line = { eventId: crypto.randomUUID(), name: "x" };
  const file = new HeldBody(shopExport("posthog").bytes);
  const lines = new HeldBody(new TextEncoder().encode(`${JSON.stringify(line)}\n`));
  const held = (path: string, { stream }: HeldBody) =>
    app.fetch(`/v1/projects/${project.id}/${path}`, {
      method: "POST",
      headers: { "Authorization": `Bearer ${token}` },
      body: stream,
    });
  const replies = Promise.all([held("import/file", file), held("import", lines)]);
  await Promise.all([file.begun, lines.begun]);
  await app.admin("DELETE", "/v1/internal/tokens");
  await pause(ALLOWED_BODY_MS_MAX);
  for (const body of [file, lines]) body.end();
  for (const reply of await replies) assertProblem(reply, 401, "invalid_token");
  assert.deepEqual(await app.stored(project), []);
  const { body: { rows } } = await app.admin("GET", "/v1/audit?limit=1000");
  const imports = rows.filter(({ what, project: of }: Json) =>
    what === "events.import" && of === project.id
  );
  assert.deepEqual(imports, []);
});
