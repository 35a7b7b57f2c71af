import assert from "node:assert/strict";
import { join } from "node:path";
import { parquetReadObjects } from "hyparquet";
import { makeDataDir } from "../support/embedded_template.ts";
import { ended, footfall, run, serverReady } from "./footfall_process.ts";

const SEEDING = [
  ...["seed", "--weeks", "1", "--visitors", "40", "--until", "2026-11-21T08:00:00Z"],
  "--no-pictures",
];

async function inFolder(work: (dataDir: string) => Promise<void>): Promise<void> {
  const dataDir = await makeDataDir("footfall-commands-");
  try {
    await work(dataDir);
  } finally {
    await Deno.remove(dataDir, { recursive: true });
  }
}

/** Runs `work` beside a server on the embedded database, and stops it. */
async function besideServer(work: (dataDir: string) => Promise<void>): Promise<void> {
  await inFolder(async (dataDir) => {
    const server = footfall(dataDir, ["serve"]);
    const stopped = ended(server);
    try {
      await serverReady(dataDir);
      await work(dataDir);
    } finally {
      server.kill("SIGTERM");
      await stopped;
    }
    assert.equal((await stopped).code, 0);
  });
}

/** The result of a command that must succeed. */
async function result(dataDir: string, args: readonly string[], input?: string) {
  const { code, out, errors } = await run(dataDir, [...args, "--json"], input);
  assert.equal(code, 0, errors);
  assert.equal(errors, "");
  return JSON.parse(out);
}

/** Returns the claims of a token. */
function claims(token: string): Record<string, unknown> {
  const [, payload = ""] = token.split(".").slice(-3);
  return JSON.parse(
    new TextDecoder().decode(Uint8Array.fromBase64(payload, { alphabet: "base64url" })),
  );
}

/** Tries the commands of the administration one by one. */
async function tour(dataDir: string): Promise<void> {
  assert.deepEqual(await result(dataDir, ["migrate"]), { migrated: true });
  const project = await result(dataDir, ["project", "create", "--name", "Shop", "--id", "prj_s"]);
  assert.equal(project.name, "Shop");
  const changed = await result(dataDir, ["project", "set", "prj_s", "--retention-days", "90"]);
  assert.equal(changed.retentionDays, 90);
  const listed = await run(dataDir, ["project", "list"]);
  assert.match(
    listed.out,
    /^ID +NAME +SITE +TIME ZONE +RETENTION\n.*prj_s +Shop +– +UTC +90 days/s,
  );

  const key = (await run(dataDir, ["key", "create", "--project", "prj_s"])).out;
  assert.match(key, /^pk_\S+\n$/);
  const { keys } = await result(dataDir, ["key", "list", "--project", "prj_s"]);
  assert.deepEqual(keys.map((shown: { key: string }) => `${shown.key}\n`), [key], "shown whole");
  const rotating = ["key", "rotate", keys[0].id, "--project", "prj_s", "--overlap-seconds", "0"];
  const rotated = await result(dataDir, rotating);
  await result(dataDir, ["key", "revoke", rotated.id, "--project", "prj_s"]);
  const adopting = [
    "key",
    "create",
    "--project",
    "prj_s",
    "--kind",
    "secret",
    "--value",
    "old key",
  ];
  const adopted = await result(dataDir, adopting);
  assert.deepEqual([adopted.key, adopted.kind], ["old key", "secret"]);
  const again = await run(dataDir, adopting);
  assert.deepEqual([again.code, again.out], [1, ""]);
  assert.match(again.errors, /This key exists already/);
  await result(dataDir, ["key", "revoke", adopted.id, "--project", "prj_s"]);
  assert.deepEqual((await result(dataDir, ["key", "list", "--project", "prj_s"])).keys, []);

  const token = await run(dataDir, ["token", "--project", "prj_s", "--ttl", "15m"]);
  assert.match(token.out, /^[\w-]+\.[\w-]+\.[\w-]+\n$/);
  const link = await run(dataDir, ["token", "--link"]);
  assert.match(link.out, /^http:\/\/\S+\/stats\/#token=\S+\n$/);
  assert.equal(claims(link.out.split("#token=")[1]!).scope, "read write jobs admin people");
  const publicly = { PUBLIC_URL: "https://stats.example" };
  const narrow = await run(dataDir, ["token", "--link", "--scope", "read"], undefined, publicly);
  assert.match(narrow.out, /^https:\/\/stats\.example\/stats\/#token=\S+\n$/);
  assert.equal(claims(narrow.out).scope, "read");
  const api = ["token", "create", "--name", "Weekly report", "--project", "prj_s", "--ttl", "1h"];
  const created = await run(dataDir, api);
  assert.match(created.out, /^[\w-]+\.[\w-]+\.[\w-]+\n$/);
  assert.match(
    created.errors,
    /^This is API token (tok_\S+), valid until \S+\. It is shown only now/,
  );
  const { tokens: [shown] } = await result(dataDir, ["token", "list"]);
  assert.equal(claims(created.out).jti, shown.id);
  assert.match(
    (await run(dataDir, ["token", "list"])).out,
    /\ntok_\S+ +Weekly report +read +prj_s +operator +– +\S+ \S+ +active\n$/,
  );
  const revoking = ["token", "revoke", shown.id];
  assert.equal((await result(dataDir, revoking)).status, "revoked");
  assert.match((await run(dataDir, revoking)).errors, /There is no API token with this id/);
  assert.deepEqual((await result(dataDir, ["token", "list", "--all"])).tokens, []);
  const { revokedAt } = await result(dataDir, ["token", "revoke-all"]);
  assert.ok(Math.abs(Date.parse(revokedAt) - Date.now()) < 60_000);
  assert.equal((await result(dataDir, ["openapi"])).openapi.slice(0, 3), "3.1");

  for (
    const args of [["token"], ["token", "create", "--name", "x"], ["key", "create"]]
  ) {
    const refused = await run(dataDir, [...args, "--project", "prj_none"]);
    assert.equal(refused.code, 1, args.join(" "));
    assert.match(refused.errors, /^footfall: There is no project with this id/);
  }
  assert.equal((await run(dataDir, ["token", "--project", "prj_s", "--scope", "all"])).code, 2);
}

/** Checks the export of the same events as tables, and of the events that pass a filter. */
async function exportsTables(dataDir: string, events: number, ofBots: number): Promise<void> {
  const table = join(dataDir, "events.parquet");
  const args = ["export", "--project", "prj_demo", "--format", "parquet", "--output", table];
  assert.equal((await result(dataDir, args)).events, events);
  const { buffer } = await Deno.readFile(table);
  assert.equal((await parquetReadObjects({ file: buffer as ArrayBuffer })).length, events);

  const filters = JSON.stringify([{ field: "name", op: "is", values: ["page_view"] }]);
  const choice = ["--project", "prj_demo", "--format", "csv", "--filters", filters];
  const views = await run(dataDir, ["export", ...choice, "--bots", "only"]);
  assert.equal(views.code, 0, views.errors);
  const [head, ...records] = views.out.trimEnd().split("\r\n");
  assert.match(head!, /^timestamp,name,path,/);
  assert.ok(records.length > 0 && records.length <= ofBots);
  assert.ok(records.every((record) => record.includes(",page_view,")));

  const refused = await run(dataDir, ["export", "--format", "xlsx"]);
  assert.equal(refused.code, 2);
  assert.match(refused.errors, /--format must be one of ndjson, csv, parquet/);
  const unread = await run(dataDir, ["export", "--project", "prj_demo", "--filters", "[{"]);
  assert.equal(unread.code, 2);
  assert.match(unread.errors, /^footfall: --filters: Use JSON, such as '\[\{"field[^\n]*\n$/);
  // A mistake that only the server recognises is still a mistake in the options, and is reported once.
  const undated = await run(dataDir, ["export", "--project", "prj_demo", "--from", "yesterday"]);
  assert.equal(undated.code, 2);
  assert.match(undated.errors, /^footfall: .*\n {2}--from: Use a local date[^\n]*\n$/);
}

/** Seeds, exports and imports: exported events can be imported again, and only once. */
async function roundTrip(dataDir: string): Promise<void> {
  const first = await result(dataDir, SEEDING);
  assert.ok(first.events > 200 && first.duplicates === 0);
  const again = await result(dataDir, SEEDING);
  assert.equal(again.duplicates, first.events);
  const { keys } = await result(dataDir, ["key", "list", "--project", "prj_demo"]);
  assert.deepEqual(keys, [], "the seed's keys are revoked");

  const file = join(dataDir, "events.ndjson");
  const exported = await result(dataDir, ["export", "--project", "prj_demo", "--output", file]);
  assert.equal(exported.events, first.events);
  const lines = (await Deno.readTextFile(file)).trimEnd().split("\n").map((line) =>
    JSON.parse(line)
  );
  const countries = new Set(lines.map((event) => event.properties.server.geo?.country));
  assert.ok(countries.size >= 3 && !countries.has(undefined), [...countries].join());
  assert.ok(lines.some((event) => event.bot === true));

  await exportsTables(dataDir, first.events, lines.filter(({ bot }) => bot === true).length);
  await result(dataDir, ["project", "create", "--name", "Copy", "--id", "prj_copy"]);
  const imported = await result(dataDir, ["import", file, "--project", "prj_copy"]);
  assert.equal(imported.accepted, first.events);
  assert.equal(imported.duplicates, 0);
  const copy = await run(dataDir, ["export", "--project", "prj_copy"]);
  assert.deepEqual(copy.out.trimEnd().split("\n").map((line) => JSON.parse(line)), lines);
}

Deno.test("commands: work without a server, on the embedded database", () =>
  inFolder(async (dataDir) => {
    assert.deepEqual(await result(dataDir, ["migrate"]), { migrated: true });
    const seeded = await result(dataDir, SEEDING);
    assert.ok(seeded.events > 200 && seeded.project === "prj_demo");
    const { projects } = await result(dataDir, ["project", "list"]);
    assert.deepEqual(projects.map(({ id }: { id: string }) => id), ["prj_default", "prj_demo"]);
    const [first, second] = await Promise.all([
      run(dataDir, ["key", "create", "--project", "prj_demo"]),
      run(dataDir, ["token"]),
    ]);
    assert.match(first.out, /^pk_/, "two at the same time wait for each other");
    assert.match(second.out, /^ey/);
  }));

Deno.test("commands: work beside a running server that has the embedded database", () =>
  besideServer(tour));

Deno.test("token revoke-all: tokens end at a running server, and new ones work", () =>
  besideServer(async (dataDir) => {
    const { url } = await serverReady(dataDir);
    const status = async (token: string) => {
      const headers = { "Authorization": `Bearer ${token.trim()}` };
      const reply = await fetch(`${url}/v1/session`, { headers });
      await reply.body?.cancel();
      return reply.status;
    };
    const { token } = await result(dataDir, ["token"]);
    assert.equal(await status(token), 200);
    const stream = await fetch(`${url}/v1/live?project=prj_default`, {
      headers: { "Authorization": `Bearer ${token}`, "Accept": "text/event-stream" },
    });
    assert.equal(stream.status, 200);
    await result(dataDir, ["token", "revoke-all"]);
    assert.equal(await status(token), 401);
    // A stream opened before the revocation ends too; otherwise it would last as long as the token.
    assert.match(await stream.text(), /^id: /);
    assert.equal(await status((await result(dataDir, ["token"])).token), 200);
  }));

Deno.test("seed, export, import: nothing is lost, and nothing is stored twice", () =>
  besideServer(roundTrip));

Deno.test("import: many lines have their digits grouped", () =>
  inFolder(async (dataDir) => {
    const lines = Array.from({ length: 1_200 }, () =>
      JSON.stringify({ eventId: crypto.randomUUID(), name: "x" }));
    const file = join(dataDir, "events.ndjson");
    await Deno.writeTextFile(file, lines.join("\n"));
    const imported = async () =>
      (await run(dataDir, ["import", file])).out;
    assert.equal(await imported(), "1,200 accepted (0 of them stored before), 0 rejected.\n");
    assert.equal(await imported(), "1,200 accepted (1,200 of them stored before), 0 rejected.\n");
  }));

Deno.test("import: refused lines are listed by number, and valid ones are stored", () =>
  inFolder(async (dataDir) => {
    const good = (n: number) =>
      JSON.stringify({ eventId: `00000000-0000-4000-8000-00000000000${n}`, name: "x" });
    const input = [
      good(1),
      "{",
      "",
      "[]",
      JSON.stringify({ eventId: "none" }),
      JSON.stringify({ eventId: crypto.randomUUID(), context: { ip: "84.138.30.31" }, name: 5 }),
      good(2),
      good(1),
    ].join("\n");
    const rejectedFile = join(dataDir, "refused.ndjson");
    const args = ["import", "-", "--json", "--rejected", rejectedFile];
    const { code, out } = await run(dataDir, args, input);
    assert.equal(code, 1);
    const { accepted, duplicates, rejected, rejections } = JSON.parse(out);
    assert.deepEqual({ accepted, duplicates, rejected }, {
      accepted: 3,
      duplicates: 1,
      rejected: 4,
    });
    const told = rejections.map(({ line, code }: { line: number; code: string }) =>
      `${line} ${code}`
    );
    assert.deepEqual(told.sort(), [
      "2 invalid_json",
      "4 invalid_event",
      "5 invalid_event_id",
      "6 invalid_type",
    ]);
    const refused = (await Deno.readTextFile(rejectedFile)).trimEnd().split("\n");
    const texts = refused.map((line) => JSON.parse(line)).map(({ line, text }) => [line, text]);
    const lines = input.split("\n");
    assert.deepEqual(texts, [2, 4, 5, 6].map((number) => [number, lines[number - 1]]));
    const missing = await run(dataDir, ["import", join(dataDir, "none.ndjson")]);
    assert.equal(missing.code, 1);
    assert.match(missing.errors, /^footfall: There is no file .*none\.ndjson\.\n$/);
  }));

Deno.test("import, export, archive: one of something is one", () =>
  inFolder(async (dataDir) => {
    const file = join(dataDir, "one.ndjson");
    await Deno.writeTextFile(
      file,
      `${JSON.stringify({ eventId: crypto.randomUUID(), name: "x" })}\n`,
    );
    const said = async (...args: string[]) => {
      const { out, errors } = await run(dataDir, args);
      return out + errors;
    };
    assert.match(
      await said("import", file, "--dry-run"),
      /^1 event can be stored, 0 lines cannot\./,
    );
    await said("import", file);
    const output = join(dataDir, "again.ndjson");
    assert.match(await said("export", "--output", output), /^1 event written to /m);
    const archive = join(dataDir, "all.footfall");
    assert.match(await said("archive", archive), /^1 event of 1 project in /m);
    const beside = ["--project", "prj_again"];
    assert.match(
      await said("restore", archive, ...beside),
      /^prj_again: 1 event, count and digest as /m,
    );
    const id = ["--id", "prj_default"];
    assert.match(
      await said("project", "set", ...id, "--retention-days", "1"),
      /^retention +1 day$/m,
    );
  }));

Deno.test("seed: an interrupt ends it in order, its key revoked", () =>
  besideServer(async (dataDir) => {
    const seeding = footfall(dataDir, ["seed", "--weeks", "100", "--visitors", "500000"]);
    const finished = ended(seeding);
    const { url, token } = await serverReady(dataDir);
    const statuses = async () => {
      const reply = await fetch(`${url}/v1/projects/prj_demo/keys`, {
        headers: { "Authorization": `Bearer ${token}` },
      });
      const { keys = [] } = await reply.json();
      return keys.map((key: { status: string }) => key.status);
    };
    const deadline = performance.now() + 20_000;
    while ((await statuses())[0] !== "active" && performance.now() < deadline) {
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    seeding.kill("SIGINT");
    const { code, errors } = await finished;
    assert.equal(code, 130, errors);
    assert.deepEqual(await statuses(), ["revoked"]);
  }));

Deno.test("commands: a control file left by a killed server does no harm", () =>
  inFolder(async (dataDir) => {
    const stale = { pid: 1, url: "http://127.0.0.1:1", token: "control_gone" };
    await Deno.writeTextFile(join(dataDir, "control.json"), JSON.stringify(stale));
    assert.equal((await result(dataDir, ["project", "list"])).projects.length, 1);
  }));
