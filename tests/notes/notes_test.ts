import assert from "node:assert/strict";
import {
  NOTE_TEXT_LENGTH_MAX,
  NOTES_MAX,
  NOTES_PER_KEY_AND_HOUR_MAX,
} from "../../src/notes/note_limits.ts";
import { assertProblem, type Json, type Reply, type TestProject } from "../support/app.ts";
import { sharedPeopleApp } from "../support/people_database.ts";

const people = sharedPeopleApp();

const noted = (project: TestProject, body: Json) =>
  people.app.admin("POST", `/v1/notes?project=${project.id}`, body);

async function note(project: TestProject, body: Json): Promise<Json> {
  const reply = await noted(project, body);
  assert.equal(reply.status, 201, JSON.stringify(reply.body));
  return reply.body;
}

async function listed(project: TestProject, query: Record<string, string> = {}): Promise<Json[]> {
  const search = new URLSearchParams({ project: project.id, ...query });
  const { status, body } = await people.app.admin("GET", `/v1/notes?${search}`);
  assert.equal(status, 200, JSON.stringify(body));
  return body.notes;
}

const textsOf = (notes: readonly Json[]) => notes.map(({ text }) => text);

/** As a deployment does, by an API key. */
async function byKey(key: string, body: Json, query = "", method = "POST"): Promise<Reply> {
  return await people.app.fetch(`/v1/notes${query}`, {
    method,
    headers: { "Content-Type": "application/json", "X-API-Key": key },
    body: JSON.stringify(body),
  });
}

async function numberOf({ id }: TestProject): Promise<number> {
  const [row] = await people.sql.query<{ project_id: number }>(
    "SELECT project_id FROM projects WHERE public_id = $1::text",
    [id],
  );
  return row!.project_id;
}

Deno.test("notes: on a day, at an instant and now, in the order of their times", async () => {
  const project = await people.app.project({ timezone: "Europe/Berlin" });
  const before = Date.now();
  const now = await note(project, { text: "  Just now " });
  const atMs = Date.parse(now.at as string);
  assert.ok(atMs >= before && atMs <= Date.now());
  assert.deepEqual([now.text, now.by], ["Just now", "operator"]);
  assert.match(now.id as string, /^note_/);
  const instant = await note(project, { at: "2026-01-31T23:30:00+01:00", text: "Instant" });
  assert.equal(instant.at, "2026-01-31T22:30:00.000Z");
  const day = await note(project, { at: "2026-01-31", text: "Day" });
  assert.deepEqual(day, { id: day.id, at: "2026-01-31", text: "Day", by: "operator" });
  assert.deepEqual(textsOf(await listed(project)), ["Day", "Instant", "Just now"]);
});

Deno.test("notes: a day stands before the instants that it has in the zone of the list", async () => {
  const project = await people.app.project({ timezone: "Asia/Tokyo" });
  // The day begins at 15:00 in Tokyo, at 05:00 in New York.
  await note(project, { at: "2026-01-30T14:59:59.999Z", text: "Day before" });
  await note(project, { at: "2026-01-30T15:00:00Z", text: "First instant" });
  await note(project, { at: "2026-01-31", text: "Day" });
  await note(project, { at: "2026-01-31T04:59:59Z", text: "Later" });
  const tokyo = ["Day before", "Day", "First instant", "Later"];
  assert.deepEqual(textsOf(await listed(project)), tokyo);
  const range = { from: "2026-01-30", to: "2026-01-31" };
  assert.deepEqual(textsOf(await listed(project, range)), tokyo);
  const newYork = ["Day before", "First instant", "Later", "Day"];
  const timezone = "America/New_York";
  assert.deepEqual(textsOf(await listed(project, { ...range, timezone })), newYork);
  assert.deepEqual(textsOf(await listed(project, { timezone })), newYork);
});

Deno.test("notes: those in a range, by the days of its zone", async () => {
  const project = await people.app.project({ timezone: "Europe/Berlin" });
  // The second is of 1 February in Berlin, of 31 January in UTC.
  await note(project, { at: "2026-01-31", text: "Day" });
  await note(project, { at: "2026-01-31T23:00:00Z", text: "Instant" });
  await note(project, { at: "2026-02-02", text: "Later" });
  const january = { from: "2026-01-01", to: "2026-01-31" };
  assert.deepEqual(textsOf(await listed(project, january)), ["Day"]);
  const utc = { ...january, timezone: "UTC" };
  assert.deepEqual(textsOf(await listed(project, utc)), ["Day", "Instant"]);
  const hours = { from: "2026-01-31T23:00:00Z", to: "2026-01-31T23:00:00.001Z" };
  assert.deepEqual(textsOf(await listed(project, hours)), ["Instant"]);
  const early = { from: "2026-01-31T10:00:00Z", to: "2026-01-31T11:00:00Z" };
  assert.deepEqual(textsOf(await listed(project, early)), ["Day"], "a day that it lies in");
  const chart = {
    interval: "day",
    compare: "previous",
    filters: "[]",
    bots: "include",
    segment: "a",
  };
  assert.deepEqual(textsOf(await listed(project, { ...january, ...chart, limit: "1" })), ["Day"]);
  const other = await people.app.project();
  assert.deepEqual(await listed(other), []);
});

Deno.test("notes: changed and deleted with the scope write", async () => {
  const project = await people.app.project();
  const other = await people.app.project();
  const made = await note(project, { at: "2026-01-31", text: "First" });
  const path = `/v1/notes/${made.id}?project=${project.id}`;
  const moved = await people.app.admin("PATCH", path, { at: "2026-02-01T10:00:00Z" });
  assert.deepEqual(moved.body, { ...made, at: "2026-02-01T10:00:00.000Z" });
  const named = await people.app.admin("PATCH", path, { text: "Second" });
  assert.deepEqual(named.body, { ...moved.body, text: "Second" });
  const back = await people.app.admin("PATCH", path, { at: "2026-01-30" });
  assert.equal(back.body.at, "2026-01-30");
  assert.deepEqual((await people.app.admin("PATCH", path, {})).body, back.body);

  const elsewhere = `/v1/notes/${made.id}?project=${other.id}`;
  assertProblem(await people.app.admin("PATCH", elsewhere, { text: "x" }), 404, "not_found");
  assertProblem(await people.app.admin("DELETE", elsewhere), 404, "not_found");
  const reader = await people.app.token([project.id], "read");
  const refused = await people.app.fetch(path, {
    method: "DELETE",
    headers: { Authorization: `Bearer ${reader}` },
  });
  assertProblem(refused, 403, "insufficient_scope");
  assert.equal((await people.app.admin("DELETE", path)).status, 204);
  assertProblem(await people.app.admin("DELETE", path), 404, "not_found");
  assertProblem(await people.app.admin("PATCH", path, { text: "x" }), 404, "not_found");
  assertProblem(
    await people.app.admin("DELETE", `/v1/notes/nothing%00?project=${project.id}`),
    404,
    "not_found",
  );
});

Deno.test("notes: a person's has their name", async () => {
  const project = await people.app.project();
  const editor = await people.person("editor", [project.id]);
  const browser = await people.browserOf(editor.id);
  const token = await browser.token();
  const path = `/v1/notes?project=${project.id}`;
  const { status, body } = await browser.as(token, "POST", path, { text: "Mine" });
  assert.deepEqual([status, body.by], [201, editor.email]);
});

Deno.test("notes: a secret key writes those of its project, and a public one none", async () => {
  const project = await people.app.project();
  const other = await people.app.project();
  const { status, body } = await byKey(project.secretKey, { text: "Version 2.4 is live" });
  assert.equal(status, 201, JSON.stringify(body));
  assert.equal(body.by, `API key …${project.secretKey.slice(-4)}`);
  assert.deepEqual(textsOf(await listed(project)), ["Version 2.4 is live"]);
  const named = await byKey(project.secretKey, { text: "Again" }, `?project=${project.id}`);
  assert.equal(named.status, 201);
  const [entry] = await people.sql.query<Json>(
    "SELECT who, what FROM audit WHERE project_id = $1::int AND what = 'note.create'",
    [await numberOf(project)],
  );
  assert.equal(entry!.who, body.by);

  const foreign = await byKey(project.secretKey, { text: "x" }, `?project=${other.id}`);
  assertProblem(foreign, 403, "insufficient_scope");
  assertProblem(await byKey(project.publicKey, { text: "x" }), 403, "key_not_allowed_here");
  assertProblem(await byKey("sk_none", { text: "x" }), 401, "invalid_api_key");
  assert.deepEqual(await listed(other), []);
  const reading = await people.app.fetch(`/v1/notes?project=${project.id}`, {
    headers: { "X-API-Key": project.secretKey },
  });
  assertProblem(reading, 401, "missing_token");
});

Deno.test("notes: a secret key changes and deletes those of its project, and no others", async () => {
  const project = await people.app.project();
  const other = await people.app.project();
  const { id } = await note(project, { text: "By somebody" });
  const { secretKey } = project;
  const changed = await byKey(secretKey, { text: "By a key" }, `/${id}`, "PATCH");
  assert.deepEqual([changed.status, changed.body.text], [200, "By a key"]);
  const [entry] = await people.sql.query<Json>(
    "SELECT who FROM audit WHERE project_id = $1::int AND what = 'note.change'",
    [await numberOf(project)],
  );
  assert.equal(entry!.who, `API key …${secretKey.slice(-4)}`);
  for (const method of ["PATCH", "DELETE"]) {
    const ask = (key: string, query: string) => byKey(key, { text: "x" }, `/${id}${query}`, method);
    assertProblem(await ask(other.secretKey, ""), 404, "not_found");
    assertProblem(await ask(secretKey, `?project=${other.id}`), 403, "insufficient_scope");
    assertProblem(await ask(project.publicKey, ""), 403, "key_not_allowed_here");
  }
  assert.deepEqual(textsOf(await listed(project)), ["By a key"]);
  const gone = await people.app.fetch(`/v1/notes/${id}`, {
    method: "DELETE",
    headers: { "X-API-Key": secretKey },
  });
  assert.equal(gone.status, 204);
  assert.deepEqual(await listed(project), []);
});

Deno.test("notes: invalid members are refused by name", async () => {
  const project = await people.app.project();
  const longest = "é".repeat(NOTE_TEXT_LENGTH_MAX);
  assert.equal((await note(project, { text: longest })).text, longest);
  const texts = [`${longest}é`, "", "   ", "two\nlines", "\ud800", 5];
  for (const text of texts) {
    const reply = await noted(project, { text });
    assertProblem(reply, 400, "invalid_body");
    assert.deepEqual(reply.body.errors.map(({ field }: Json) => field), ["text"], String(text));
  }
  const times = ["2026-02-30", "yesterday", "2026-01-31T12:00:00", "0000-01-01", "", 5, null];
  for (const at of times) {
    const reply = await noted(project, { at, text: "x" });
    assertProblem(reply, 400, "invalid_body");
    assert.deepEqual(reply.body.errors.map(({ field }: Json) => field), ["at"], String(at));
  }
  assertProblem(await noted(project, { text: "x", by: "somebody else" }), 400, "invalid_body");
  const bad = await people.app.admin("GET", `/v1/notes?project=${project.id}&from=never&lmit=5`);
  assertProblem(bad, 400, "invalid_parameter");
  assert.deepEqual(bad.body.errors.map(({ field }: Json) => field).toSorted(), ["from", "lmit"]);
});

Deno.test("notes: the limit per project is exact", async () => {
  const project = await people.app.project();
  await people.sql.query(
    `INSERT INTO notes (project_id, note_id, day, text, written_by)
    SELECT $1::int, 'note_' || n, 20000, 'One of many', 'somebody'
    FROM generate_series(1, $2::int) n`,
    [await numberOf(project), NOTES_MAX - 1],
  );
  await note(project, { text: "The last one" });
  assertProblem(await noted(project, { text: "One too many" }), 409, "conflict");
  await people.app.admin("DELETE", `/v1/notes/note_1?project=${project.id}`);
  await note(project, { text: "There is room again" });
  assert.equal((await listed(project)).length, NOTES_MAX);
});

Deno.test("notes: the limit per key and hour is exact", async () => {
  const project = await people.app.project();
  const projectId = await numberOf(project);
  const { secretKey } = project;
  const { body: { id, by } } = await byKey(secretKey, { text: "The first one" });
  // Of those of another project, another writer and more than an hour ago none counts.
  await people.sql.query(
    `INSERT INTO audit (who, what, subject, project_id, at)
    SELECT CASE n WHEN 2 THEN 'somebody' ELSE $3::text END,
      (ARRAY['note.create', 'note.change', 'note.delete'])[1 + n % 3], 'One of many',
      CASE n WHEN 3 THEN 0 ELSE $1::int END,
      now() - make_interval(mins => CASE n WHEN 1 THEN 61 ELSE 30 END)
    FROM generate_series(1, $2::int) n`,
    [projectId, NOTES_PER_KEY_AND_HOUR_MAX + 1, by],
  );
  const last = await byKey(secretKey, { text: "The last one" }, `/${id}`, "PATCH");
  assert.equal(last.status, 200);
  const over = [
    await byKey(secretKey, { text: "One too many" }),
    await byKey(secretKey, { text: "One too many" }, `/${id}`, "PATCH"),
    await byKey(secretKey, {}, `/${id}`, "DELETE"),
  ];
  for (const reply of over) {
    assertProblem(reply, 429, "rate_limited");
    const seconds = Number(reply.headers.get("retry-after"));
    assert.ok(seconds > 25 * 60 && seconds <= 31 * 60, `${seconds} s`);
  }
  assert.equal((await noted(project, { text: "By a token" })).status, 201);
});
