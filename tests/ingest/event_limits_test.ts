import assert from "node:assert/strict";
import { EVENT_LEVELS_MAX } from "../../src/ingest/ingest_limits.ts";
import { type Json, newEvent, sharedApp, type TestProject } from "../support/app.ts";

const server = sharedApp();
let project: TestProject;
Deno.test.beforeAll(async () => void (project = await server.project()));

const NUL = "\u0000";
const LONE = "\ud800";

/** The codes of what is rejected, by index; null where the event was accepted. */
async function verdicts(events: Json[]): Promise<(string | null)[]> {
  const { status, body } = await server.post(project, events);
  const rejected: Json[] = status === 400 ? body.errors : body.rejected;
  assert.ok(status === 200 || body.code === "invalid_events", JSON.stringify(body));
  return events.map((_, index) =>
    (rejected.find((one) => one.index === index)?.code ?? null) as string | null
  );
}

function nested(levels: number): unknown {
  return levels === 1 ? {} : { a: nested(levels - 1) };
}

/** An object whose compact JSON has so many bytes. */
function objectOf(bytes: number, letter = "x"): Json {
  const empty = JSON.stringify({ a: "" }).length;
  const size = new TextEncoder().encode(letter).length;
  const letters = Math.floor((bytes - empty) / size);
  const rest = "x".repeat(bytes - empty - letters * size);
  return { a: letter.repeat(letters) + rest };
}

Deno.test("event: lengths are UTF-16 units, longer text is rejected and not cut", async () => {
  const limits: [string, number][] = [
    ["name", 200],
    ["anonymousId", 200],
    ["userId", 200],
    ["sessionId", 200],
    ["url", 2048],
    ["path", 2048],
    ["referrer", 2048],
    ["title", 2048],
  ];
  for (const [member, max] of limits) {
    const duck = "🦆";
    const taken = await verdicts([
      newEvent({ [member]: "x".repeat(max) }),
      newEvent({ [member]: "x".repeat(max + 1) }),
      newEvent({ [member]: duck.repeat(max / 2) }),
      newEvent({ [member]: duck.repeat(max / 2) + "x" }),
    ]);
    assert.deepEqual(taken, [null, "too_long", null, "too_long"], member);
  }
  const found = await server.roundTrip(project, { title: "ä".repeat(2048) });
  assert.equal(found.title, "ä".repeat(2048));
});

Deno.test("event: NUL and lone surrogates are invalid_text wherever they stand", async () => {
  for (const bad of [NUL, LONE, "\udfff", `${LONE}x`, `x${NUL}y`, "\udc00\ud800"]) {
    const places: Json[] = [
      { name: bad },
      { type: bad },
      { userId: bad },
      { url: `https://a.example/${bad}` },
      { title: bad },
      { timestamp: bad },
      { properties: { a: bad } },
      { properties: { [bad]: 1 } },
      { properties: { a: [{ b: [bad] }] } },
      { properties: { a: [{ [bad]: 1 }] } },
      { properties: { server: bad } },
      { context: { locale: bad } },
      { context: { viewport: { [bad]: 1 } } },
      { context: { ip: bad } },
      { unknown: bad },
      { [bad]: 1 },
      { unknown: { deep: [bad] } },
    ];
    const codes = await verdicts(places.map((place) => newEvent(place)));
    assert.deepEqual(codes, places.map(() => "invalid_text"), JSON.stringify(bad));
  }
});

Deno.test("event: an invalid text names its place and leaves its neighbours alone", async () => {
  const { status, body } = await server.post(project, [
    newEvent({ properties: { a: { b: NUL } } }),
    newEvent({ properties: { a: "\\u0000 spelt out", pair: "🦆" } }),
    { eventId: `${LONE}x` },
  ]);
  assert.equal(status, 200);
  assert.equal(body.accepted, 1);
  assert.deepEqual(body.rejected.map((one: Json) => [one.index, one.code, one.field]), [
    [0, "invalid_text", "properties.a.b"],
    [2, "invalid_text", "eventId"],
  ]);
});

Deno.test("event: an escape before u0000 is no NUL", async () => {
  const found = await server.roundTrip(project, { title: "\\u0000", userId: "a\\\\ud800" });
  assert.deepEqual([found.title, found.userId], ["\\u0000", "a\\\\ud800"]);
});

Deno.test("event: properties nest ten levels deep, themselves the first", async () => {
  assert.deepEqual(
    await verdicts([
      newEvent({ properties: nested(10) }),
      newEvent({ properties: nested(11) }),
      newEvent({ properties: { a: [[[[[[[[[]]]]]]]]] } }),
      newEvent({ properties: { a: [[[[[[[[[[]]]]]]]]]] } }),
    ]),
    [null, "too_deep", null, "too_deep"],
  );
});

Deno.test("event: every other member nests a thousand levels deep, itself the first", async () => {
  const deep = nested(EVENT_LEVELS_MAX);
  const deeper = nested(EVENT_LEVELS_MAX + 1);
  const places: ((value: unknown) => Json)[] = [
    (unknown) => ({ unknown }),
    (type) => ({ name: "a", type }),
  ];
  for (const place of places) {
    assert.deepEqual(
      await verdicts([newEvent(place(nested(11))), newEvent(place(deep)), newEvent(place(deeper))]),
      [null, null, "too_deep"],
    );
  }
  const foo = nested(EVENT_LEVELS_MAX - 1);
  const context = [{ foo: nested(11) }, { foo }, { foo: deep }, { viewport: foo }, {
    viewport: deep,
  }];
  assert.deepEqual(
    await verdicts(context.map((context) => newEvent({ context }))),
    [null, null, "too_deep", null, "too_deep"],
  );
  const { body } = await server.post(project, [newEvent({ unknown: deeper })]);
  const { field, message } = body.errors[0];
  assert.deepEqual([field, message], [
    "unknown",
    `Nest objects and arrays at most ${EVENT_LEVELS_MAX} levels deep.`,
  ]);
});

Deno.test("event: a nesting of a hundred thousand levels is refused, not followed", async () => {
  const levels = 100_000;
  const deep = `${'{"a":'.repeat(levels)}1${"}".repeat(levels)}`;
  const event = `{"eventId":"${crypto.randomUUID()}","properties":${deep}}`;
  const { status, body } = await server.postRaw(project, `{"events":[${event}]}`);
  assert.equal(status, 400);
  assert.equal(body.errors[0].code, "too_deep");
});

Deno.test("event: properties hold 32 KiB as JSON in UTF-8", async () => {
  const max = 32 * 1024;
  for (const letter of ["x", "ä", "漢", "🦆"]) {
    assert.deepEqual(
      await verdicts([
        newEvent({ properties: objectOf(max, letter) }),
        newEvent({ properties: objectOf(max + 1, letter) }),
      ]),
      [null, "properties_too_large"],
      letter,
    );
  }
});

Deno.test("event: numbers that grow as they are written out count as they are stored", async () => {
  // 1e20 is sent in four characters and stored in twenty-one.
  const numbers = `[${Array.from({ length: 1600 }, () => "1e20").join(",")}]`;
  const text = `{"events":[{"eventId":"${crypto.randomUUID()}","properties":{"n":${numbers}}}]}`;
  const { body } = await server.postRaw(project, text);
  assert.equal(body.errors?.[0].code, "properties_too_large");
});

Deno.test("event: a number that none is as large as is invalid_type, at its place", async () => {
  const id = () => `"eventId":"${crypto.randomUUID()}"`;
  const largest = "1.7976931348623157e308";
  const places: [string, string][] = [
    ['"properties":{"price":1e400}', "invalid_type properties.price"],
    ['"properties":{"prices":[1,{"a":-1e400}]}', "invalid_type properties.prices.1.a"],
    ['"unknown":1e309', "invalid_type unknown"],
    ['"context":{"viewport":{"width":1e400}}', "invalid_type context.viewport.width"],
    ['"context":{"unknown":[1e400]}', "invalid_type context.unknown.0"],
    ['"title":1e400', "invalid_type title"],
    ['"timestamp":1e400', "invalid_timestamp timestamp"],
    [`"properties":{"price":${largest}}`, "undefined undefined"],
    ['"properties":{"price":"1e400"}', "undefined undefined"],
  ];
  const events = places.map(([member]) => `{${id()},${member}}`);
  const { status, body } = await server.postRaw(project, `{"events":[${events.join(",")}]}`);
  assert.equal(status, 200);
  const found = places.map((_, i) => body.rejected.find((one: Json) => one.index === i));
  assert.deepEqual(
    found.map((one) => `${one?.code} ${one?.field}`),
    places.map(([, told]) => told),
  );
  assert.equal(body.accepted, 2);
});

Deno.test("event: white space in the body does not count", async () => {
  const event = JSON.stringify(newEvent({ properties: { a: 1 } }));
  const text = `{"events":[${event.replace('{"a"', `{${" ".repeat(70_000)}"a"`)}]}`;
  assert.equal((await server.postRaw(project, text)).status, 200);
});

Deno.test("event: one of more than 64 KiB is rejected alone, extra included", async () => {
  const max = 64 * 1024;
  const bare = newEvent({ unknown: "" });
  const room = max - JSON.stringify(bare).length;
  assert.deepEqual(
    await verdicts([
      { ...bare, unknown: "x".repeat(room) },
      { ...newEvent(), unknown: "x".repeat(room + 1) },
      newEvent(),
    ]),
    [null, "event_too_large", null],
  );
  const large = newEvent({ unknown: "x".repeat(max) });
  const { body } = await server.post(project, [large, newEvent({ [NUL]: 1 })]);
  assert.deepEqual(body.errors.map(({ code, field }: Json) => [code, field]), [
    ["event_too_large", ""],
    ["invalid_text", ""],
  ]);
});

Deno.test("event: texts of the context have limits too", async () => {
  assert.deepEqual(
    await verdicts([
      newEvent({ context: { locale: "x".repeat(200), timezone: "x".repeat(200) } }),
      newEvent({ context: { locale: "x".repeat(201) } }),
      newEvent({ context: { timezone: "x".repeat(201) } }),
      newEvent({ context: { userAgent: "x".repeat(2048) } }),
      newEvent({ context: { userAgent: "x".repeat(2049) } }),
    ]),
    [null, "too_long", "too_long", null, "too_long"],
  );
});
