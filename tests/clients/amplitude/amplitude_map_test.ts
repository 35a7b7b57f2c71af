/** What each event of Amplitude's clients becomes, and what they are answered: tables, and no server. */
import assert from "node:assert/strict";
import type { ClientEvent } from "../../../src/clients/client_event.ts";
import { refused, uploaded } from "../../../src/clients/amplitude/answer.ts";
import { readUpload } from "../../../src/clients/amplitude/decode.ts";
import { Problem } from "../../../src/problem.ts";
import type { Json } from "../../support/app.ts";

function mapped(event: Json): ClientEvent {
  const [item] = readUpload({ api_key: "amp", events: [event] }).items;
  assert.ok(item && "event" in item, JSON.stringify(item));
  return item;
}

/** Without members that have no value. */
const plain = (value: unknown): Json =>
  JSON.parse(JSON.stringify(value, (_, member) => member ?? undefined));

Deno.test("names: page views, traits, groups, and what the client reports of itself", () => {
  const names = {
    "[Amplitude] Page Viewed": "page_view",
    $identify: "$identify",
    $groupidentify: "$group",
    session_start: "$session_start",
    session_end: "$session_end",
    "[Amplitude] Element Clicked": "$[Amplitude] Element Clicked",
    "[Amplitude] Form Started": "[Amplitude] Form Started",
    "[Amplitude] Form Submitted": "[Amplitude] Form Submitted",
    "[Amplitude] File Downloaded": "[Amplitude] File Downloaded",
    "[Amplitude] Rage Click": "$[Amplitude] Rage Click",
    "Order Completed": "Order Completed",
    revenue_amount: "revenue_amount",
    constructor: "constructor",
  };
  for (const [theirs, ours] of Object.entries(names)) {
    assert.equal(mapped({ event_type: theirs }).event.name, ours, theirs);
  }
});

Deno.test("fields: people, session, page, visitor; the rest is kept or dropped by a list", () => {
  const { event, id } = mapped({
    event_type: "[Amplitude] Page Viewed",
    insert_id: "0197a8e2-7c3b-4d1e-9f42-5b6c7d8e9f02",
    user_id: "u1",
    device_id: "d1",
    session_id: 1_795_248_000_000,
    time: 1_795_248_001_000,
    event_properties: {
      "[Amplitude] Page Location": "https://shop.example/a?utm_source=letter",
      "[Amplitude] Page Path": "/a",
      "[Amplitude] Page Title": "A",
      "[Amplitude] Page Counter": 1,
      referrer: "https://search.example/",
      plan: "pro",
    },
    user_properties: { $set: { city: "Ulm" } },
    groups: {},
    app_version: "1.2",
    platform: "Web",
    revenue: 9.5,
    language: "de-DE",
    ip: "203.0.113.9",
    user_agent: "Mozilla/5.0",
    library: "amplitude-ts/2.0.0",
    event_id: 7,
    adid: "advertising",
  });
  assert.equal(id, "0197a8e2-7c3b-4d1e-9f42-5b6c7d8e9f02");
  assert.deepEqual(plain(event), {
    name: "page_view",
    timestamp: 1_795_248_001_000,
    userId: "u1",
    anonymousId: "d1",
    sessionId: "1795248000000",
    url: "https://shop.example/a?utm_source=letter",
    referrer: "https://search.example/",
    title: "A",
    properties: {
      user_properties: { $set: { city: "Ulm" } },
      revenue: 9.5,
      app_version: "1.2",
      platform: "Web",
      "[Amplitude] Page Counter": 1,
      plan: "pro",
    },
    context: { locale: "de-DE", ip: "203.0.113.9", userAgent: "Mozilla/5.0" },
  });
});

Deno.test("fields: $remote is no address, -1 no session, and a custom event's referrer its own", () => {
  const { event, id } = mapped({
    event_type: "paid",
    ip: "$remote",
    session_id: -1,
    event_properties: { referrer: "a friend" },
  });
  assert.equal(id, null);
  assert.equal((event.context as Json).ip, undefined);
  assert.deepEqual([event.sessionId, event.referrer, event.timestamp], [
    undefined,
    undefined,
    undefined,
  ]);
  assert.deepEqual(plain(event.properties), { referrer: "a friend" });
});

Deno.test("bodies: what is no event is refused alone, and what is no upload as a whole", () => {
  const { items, key, sentAt } = readUpload({
    api_key: "amp",
    client_upload_time: "2026-11-21T08:00:00Z",
    events: [{ event_type: "a" }, null, {}, { event_type: 1 }, {
      event_type: "a",
      event_properties: 1,
    }],
  });
  assert.deepEqual(items.map((item) => "event" in item), [true, false, false, false, false]);
  assert.deepEqual(key, { value: "amp", from: "body" });
  assert.equal(sentAt, "2026-11-21T08:00:00Z");
  assert.equal(readUpload({ events: [] }).key, null);
  for (const body of [null, [], "text", {}, { events: {} }]) {
    assert.throws(
      () => readUpload(body),
      (error) => error instanceof Problem && error.code === "invalid_envelope",
    );
  }
});

const OUTCOME = {
  accepted: 2,
  duplicates: 1,
  rejected: [],
  protocol: "amplitude",
  bytes: 321,
  receivedAtMs: 1_795_248_001_000,
  projectPublicId: "prj_1",
} as const;

Deno.test("answers: what was ingested, and which field of which event was refused", async () => {
  const whole = uploaded(OUTCOME);
  assert.equal(whole.status, 200);
  assert.deepEqual(await whole.json(), {
    code: 200,
    events_ingested: 2,
    payload_size_bytes: 321,
    server_upload_time: 1_795_248_001_000,
  });
  const rejection = { eventId: null, message: "…" } as const;
  const partly = uploaded({
    ...OUTCOME,
    rejected: [
      { ...rejection, index: 0, code: "invalid_timestamp", field: "timestamp" },
      { ...rejection, index: 3, code: "too_long", field: "userId" },
      { ...rejection, index: 4, code: "too_long", field: "userId" },
      { ...rejection, index: 5, code: "invalid_event", field: "" },
      { ...rejection, index: 6, code: "invalid_text", field: "properties.a.b" },
    ],
  });
  assert.equal(partly.status, 200);
  assert.deepEqual((await partly.json()).events_with_invalid_fields, {
    time: [0],
    user_id: [3, 4],
    event: [5],
    event_properties: [6],
  });
});

Deno.test("refusals: `code` is a number, Retry-After stays, and a bad key ends the client's attempts", async () => {
  const busy = refused(
    new Problem("overloaded", "Try later.", { headers: { "Retry-After": "2" } }),
  );
  assert.deepEqual([busy.status, busy.headers.get("retry-after")], [503, "2"]);
  assert.deepEqual(await busy.json(), { code: 503, error: "Try later." });
  for (const code of ["invalid_api_key", "revoked_api_key", "origin_not_allowed"] as const) {
    const reply = refused(new Problem(code, "Why."));
    const body = await reply.json();
    assert.equal(body.code, reply.status);
    assert.match(body.error, /^Invalid API key/, code);
  }
  assert.equal(
    (await refused(new Problem("missing_api_key", "Why.")).json()).missing_field,
    "api_key",
  );
  const none = refused(
    new Problem("invalid_events", "None.", {
      errors: [{ index: 0, field: "timestamp", code: "invalid_timestamp", message: "…" }],
    }),
  );
  assert.deepEqual(await none.json(), {
    code: 400,
    error: "None.",
    events_with_invalid_fields: { time: [0] },
  });
});
