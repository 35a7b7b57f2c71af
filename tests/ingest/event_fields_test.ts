import assert from "node:assert/strict";
import { type Json, newEvent, sharedApp, type TestProject } from "../support/app.ts";

const server = sharedApp();
let project: TestProject;
Deno.test.beforeAll(async () => void (project = await server.project()));

/** Sends members that JSON.stringify would lose, such as an own `__proto__`. */
async function roundTripText(members: string): Promise<Json> {
  const eventId = crypto.randomUUID();
  const text = `{"events":[{"eventId":"${eventId}",${members}}]}`;
  const { status, body } = await server.postRaw(project, text);
  assert.equal(status, 200, JSON.stringify(body));
  return (await server.stored(project)).find((event) => event.eventId === eventId)!;
}

const sentProperties = (event: Json): Json => {
  const { server: _, ...sent } = event.properties as Json;
  return sent;
};

Deno.test("event: only the id is required; everything else is absent or derived", async () => {
  const found = await server.roundTrip(project, {});
  assert.equal(found.name, "event");
  assert.equal(found.clock, "received");
  assert.equal(found.timestamp, found.properties.server.ingestedAt);
  for (const member of ["anonymousId", "userId", "sessionId", "url", "path", "referrer", "title"]) {
    assert.equal(found[member], null, member);
  }
  assert.equal(found.extra, null);
  assert.deepEqual(sentProperties(found), {});
});

Deno.test("event: a null member is an absent one", async () => {
  const members = ["name", "timestamp", "anonymousId", "userId", "sessionId", "url", "path"];
  const more = ["referrer", "title", "properties", "context", "event", "type", "unknown"];
  const nulls = Object.fromEntries([...members, ...more].map((member) => [member, null]));
  const found = await server.roundTrip(project, nulls);
  const bare = await server.roundTrip(project, {});
  for (const member of Object.keys(bare)) {
    // What tells when it came: the hash changes at midnight.
    if (["eventId", "timestamp", "properties", "server"].includes(member)) continue;
    assert.deepEqual(found[member], bare[member], member);
  }
  const inContext = { viewport: null, screen: null, locale: null, timezone: null, ip: null };
  const second = await server.roundTrip(project, { context: inContext });
  assert.deepEqual(second.context, bare.context);
});

Deno.test("event: an id of any version and case is taken and stored in lower case", async () => {
  const ids = [
    "00000000-0000-0000-0000-000000000000",
    "FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF",
    "6ba7b810-9dad-11d1-80b4-00c04fd430c8",
    "018F4C4B-1B2C-7D3E-8F4A-5B6C7D8E9F01",
    "6fa459ea-ee8a-3ca4-094e-DB77E160355E",
  ];
  const own = await server.project();
  const { body } = await server.post(own, ids.map((eventId) => ({ eventId })));
  assert.deepEqual(body, { accepted: 5, duplicates: 0, rejected: [] });
  const found = (await server.stored(own)).map((event) => event.eventId);
  assert.deepEqual(new Set(found), new Set(ids.map((id) => id.toLowerCase())));
});

Deno.test("event: an id that is not a UUID is invalid_event_id, its absence missing_event_id", async () => {
  const uuid = crypto.randomUUID();
  const wrong = [
    uuid.replaceAll("-", ""),
    `{${uuid}}`,
    ` ${uuid}`,
    `${uuid}\n`,
    uuid.slice(1),
    "",
    5,
    {},
    true,
    [uuid],
  ];
  const ids = await server.post(project, wrong.map((eventId) => ({ eventId })));
  assert.equal(ids.status, 400);
  for (const one of ids.body.errors) {
    assert.deepEqual([one.code, one.field], ["invalid_event_id", "eventId"]);
  }
  assert.equal(ids.body.errors.length, wrong.length);
  const absent = await server.post(project, [{}, { eventId: null }]);
  assert.deepEqual(absent.body.errors.map((one: Json) => one.code), [
    "missing_event_id",
    "missing_event_id",
  ]);
});

Deno.test("event: name, event, eventName, type name it, the first one present in this order", async () => {
  const cases: [Json, string, Json | null][] = [
    [{ name: "n", event: "e", eventName: "en", type: "t" }, "n", {
      event: "e",
      eventName: "en",
      type: "t",
    }],
    [{ event: "e", eventName: "en", type: "t" }, "e", { eventName: "en", type: "t" }],
    [{ eventName: "en", type: "t" }, "en", { type: "t" }],
    [{ type: "t" }, "t", null],
    [{ name: null, event: null, type: "t" }, "t", null],
    [{ name: "", event: "e" }, "e", null],
    [{ type: "t", other: 1 }, "t", { other: 1 }],
  ];
  for (const [members, name, extra] of cases) {
    const found = await server.roundTrip(project, members);
    assert.equal(found.name, name);
    assert.deepEqual(found.extra, extra);
  }
});

Deno.test("event: an alias obeys the rules of the name", async () => {
  for (const alias of ["event", "eventName", "type"]) {
    const { body } = await server.post(project, [
      newEvent({ [alias]: "x".repeat(201) }),
      newEvent({ [alias]: 5 }),
      newEvent({ [alias]: "x".repeat(200) }),
    ]);
    assert.equal(body.accepted, 1);
    const told = body.rejected.map(({ code, field }: Json) => [code, field]);
    assert.deepEqual(told, [["too_long", alias], ["invalid_type", alias]]);
  }
});

Deno.test("event: the ids `.` and `..` are refused, others of dots are not", async () => {
  for (const member of ["anonymousId", "userId"]) {
    const events = [".", "..", "...", ".a", "%2e"].map((id) => newEvent({ [member]: id }));
    const { body } = await server.post(project, events);
    assert.equal(body.accepted, 3);
    const told = body.rejected.map(({ index, code, field }: Json) => [index, code, field]);
    assert.deepEqual(told, [[0, "invalid_text", member], [1, "invalid_text", member]]);
  }
  assert.equal(
    (await server.post(project, [newEvent({ path: "..", title: "." })])).body.accepted,
    1,
  );
});

Deno.test("event: members of a wrong type are invalid_type, by name", async () => {
  const texts = ["anonymousId", "userId", "sessionId", "url", "path", "referrer", "title", "name"];
  for (const member of texts) {
    const values = [5, true, {}, ["x"]];
    const { status, body } = await server.post(
      project,
      values.map((value) => newEvent({ [member]: value })),
    );
    assert.equal(status, 400, member);
    for (const one of body.errors) {
      assert.deepEqual([one.code, one.field], ["invalid_type", member]);
    }
  }
  for (const member of ["properties", "context"]) {
    const { body } = await server.post(
      project,
      [5, "text", [], true].map((value) => newEvent({ [member]: value })),
    );
    assert.equal(body.errors.length, 4);
    for (const one of body.errors) {
      assert.deepEqual([one.code, one.field], ["invalid_type", member]);
    }
  }
  const { body } = await server.post(project, [
    newEvent({ context: { viewport: 5 } }),
    newEvent({ context: { locale: 5 } }),
  ]);
  assert.deepEqual(body.errors.map((one: Json) => one.field), [
    "context.viewport",
    "context.locale",
  ]);
});

Deno.test("event: unknown members are kept in extra, of the context too", async () => {
  const found = await server.roundTrip(project, {
    version: 3,
    library: { name: "x", list: [1, null, "two"] },
    context: { locale: "de-DE", network: { type: "4g" } },
  });
  assert.deepEqual(found.extra, {
    version: 3,
    library: { name: "x", list: [1, null, "two"] },
    context: { network: { type: "4g" } },
  });
  assert.equal(found.context.locale, "de-DE");
});

Deno.test("event: __proto__, constructor and prototype are members like any other", async () => {
  const found = await roundTripText(
    '"__proto__":{"polluted":1},"constructor":{"a":2},"properties":{"__proto__":{"b":3},"prototype":4,"hasOwnProperty":5},' +
      '"context":{"__proto__":{"c":6}}',
  );
  const extra = found.extra as Json;
  assert.deepEqual(Object.getOwnPropertyDescriptor(extra, "__proto__")?.value, { polluted: 1 });
  assert.deepEqual(extra.constructor, { a: 2 });
  const context = extra.context as Json;
  assert.deepEqual(Object.getOwnPropertyDescriptor(context, "__proto__")?.value, { c: 6 });
  const properties = sentProperties(found);
  assert.deepEqual(Object.getOwnPropertyDescriptor(properties, "__proto__")?.value, { b: 3 });
  assert.deepEqual([properties.prototype, properties.hasOwnProperty], [4, 5]);
  assert.equal(({} as Json).polluted, undefined);
});

Deno.test("event: a key is not mistaken for that of an earlier event", async () => {
  for (const key of ["there\\", 'there"', "there\n", "there\t"]) {
    const own = `{"here":1,${JSON.stringify(key)}:2}`;
    const found = await roundTripText(`"properties":${own},"own":${own}`);
    const expected = new Map([["here", 1], [key, 2]]);
    assert.deepEqual(new Map(Object.entries(sentProperties(found))), expected);
    assert.deepEqual(new Map(Object.entries((found.extra as Json).own as Json)), expected);
  }
});

Deno.test("event: an id or a name in __proto__ does not count", async () => {
  const id = crypto.randomUUID();
  const { body } = await server.postRaw(project, `{"events":[{"__proto__":{"eventId":"${id}"}}]}`);
  assert.equal(body.errors[0].code, "missing_event_id");
});

Deno.test("event: a client's properties.server is overwritten, whatever it is", async () => {
  for (const name of ["custom", "click", "scroll"]) {
    for (const mine of [{ ip: "1.1.1.1", forged: true }, "text", null, 5]) {
      const found = await server.roundTrip(project, { name, properties: { server: mine, a: 1 } });
      assert.deepEqual(Object.keys(found.properties.server).toSorted(), [
        "geo",
        "hash",
        "ingestedAt",
        "ip",
      ]);
      assert.equal(found.properties.server.ip, "8.8.8.8");
      assert.deepEqual(sentProperties(found), { a: 1 });
    }
  }
});

Deno.test("event: properties come back as they were sent", async () => {
  const properties = {
    text: "ä 🦆 \u2028 \" \\ {} NULL , '",
    "": "empty name",
    numbers: [0, -1, 1.5, 1e-7, 123456789012345680, 1e21, 5e-324, 1.7976931348623157e308],
    nothing: null,
    yes: true,
    nested: { a: { b: [{}, [], { c: null }] } },
  };
  const found = await server.roundTrip(project, { properties });
  assert.deepEqual(sentProperties(found), properties);
});

const CLICK = {
  x: 0.123456789,
  y: 1234.5,
  fixed: false,
  rage: true,
  dead: false,
  selector: "main > a[href='/x']:nth-child(2)",
  viewportWidth: 1440,
  viewportHeight: 900,
  documentWidth: 1440,
  documentHeight: 4300,
};

Deno.test("event: a click's and a scroll's properties come back exactly as sent", async () => {
  const clicks: Json[] = [
    CLICK,
    { ...CLICK, own: { a: [1] } },
    { x: 0, y: 0, fixed: true },
    { x: 1, selector: "" },
    { x: "0.5", y: null, fixed: "yes", rage: 1, dead: null, selector: 7 },
    { ...CLICK, viewportWidth: -1, viewportHeight: "900", documentHeight: 1e9, documentWidth: [] },
    { viewportWidth: 0, documentHeight: 1_000_000 },
    { x: -3.5, y: 1e300 },
  ];
  for (const properties of clicks) {
    const found = await server.roundTrip(project, { name: "click", properties });
    assert.deepEqual(sentProperties(found), properties);
  }
  const scrolls: Json[] = [
    { depthPx: 4300, viewportWidth: 390, viewportHeight: 844, documentHeight: 9000 },
    { depthPx: "all", viewportWidth: null, x: 1, documentWidth: 5 },
    { depthPx: -1 },
  ];
  for (const properties of scrolls) {
    const found = await server.roundTrip(project, { name: "scroll", properties });
    assert.deepEqual(sentProperties(found), properties);
  }
});

Deno.test("event: fractions of a pixel in a click or scroll come back exactly as sent", async () => {
  const cases: [string, Json][] = [
    ["click", { viewportWidth: 1024.5, viewportHeight: 900.25, documentHeight: 4300.75 }],
    ["scroll", { depthPx: 1234.4, viewportHeight: 844.5 }],
  ];
  for (const [name, properties] of cases) {
    const found = await server.roundTrip(project, { name, properties });
    assert.deepEqual(sentProperties(found), properties);
  }
});

Deno.test("event: on other events the heatmap's properties are free", async () => {
  const found = await server.roundTrip(project, { name: "custom", properties: CLICK });
  assert.deepEqual(sentProperties(found), CLICK);
});

Deno.test("event: a click at a number too large for JSON is refused, never null or a text", async () => {
  const click = `"eventId":"${crypto.randomUUID()}","name":"click","properties":{"x":1e999,"y":5}`;
  const { status, body } = await server.postRaw(project, `{"events":[{${click}}]}`);
  assert.equal(status, 400);
  const [{ code, field }] = body.errors;
  assert.deepEqual([code, field], ["invalid_type", "properties.x"]);
});

Deno.test("event: the context's sizes, locale and time zone come back", async () => {
  const context = {
    viewport: { width: 1440, height: 900 },
    screen: { width: 2560, height: 1440 },
    locale: "de-DE",
    timezone: "Europe/Berlin",
  };
  for (const name of ["page_view", "custom", "click", "scroll"]) {
    const found = await server.roundTrip(project, { name, context });
    assert.deepEqual(found.context, context);
    assert.equal(found.extra, null);
    const more = { theme: "dark" };
    const beside = await server.roundTrip(project, { name, context: { ...context, ...more } });
    assert.deepEqual([beside.context, beside.extra], [context, { context: more }]);
  }
});

Deno.test("event: an invalid size is kept in extra", async () => {
  const viewport = { width: "wide", height: -1 };
  const found = await server.roundTrip(project, {
    name: "page_view",
    context: { viewport, screen: { width: 10, height: 20, depth: 24 } },
  });
  assert.equal(found.context.viewport, null);
  assert.deepEqual(found.context.screen, { width: 10, height: 20 });
  assert.deepEqual(found.extra, {
    context: { viewport, screen: { width: 10, height: 20, depth: 24 } },
  });
  for (const odd of [{ width: 10, height: 20, depth: 24 }, { width: 9.6, height: 20 }]) {
    const click = { name: "click", context: { viewport: odd }, properties: { viewportWidth: 390 } };
    const clicked = await server.roundTrip(project, click);
    assert.deepEqual(clicked.context.viewport, { width: 10, height: 20 });
    assert.deepEqual(clicked.extra, { context: { viewport: odd } });
    assert.deepEqual(sentProperties(clicked), { viewportWidth: 390 });
  }
});
