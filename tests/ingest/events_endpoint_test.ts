import assert from "node:assert/strict";
import fc from "fast-check";
import { type Json, newEvent, sharedApp } from "../support/app.ts";

const server = sharedApp();

Deno.test("POST /v1/events: one event is stored and read back", async () => {
  const project = await server.project();
  const event = newEvent({ name: "signup", anonymousId: "a", userId: "u", sessionId: "s" });
  const { status, body } = await server.post(project, [event]);
  assert.equal(status, 200);
  assert.deepEqual(body, { accepted: 1, duplicates: 0, rejected: [] });
  const [found] = await server.stored(project);
  assert.equal(found?.eventId, event.eventId);
  assert.equal(found?.name, "signup");
  assert.deepEqual([found?.anonymousId, found?.userId, found?.sessionId], ["a", "u", "s"]);
});

Deno.test("POST /v1/events: an empty batch is 200 with zeros", async () => {
  const project = await server.project();
  const { status, body } = await server.post(project, []);
  assert.equal(status, 200);
  assert.deepEqual(body, { accepted: 0, duplicates: 0, rejected: [] });
});

Deno.test("POST /v1/events: a replay answers the same accepted, and how many were stored before", async () => {
  const project = await server.project();
  const events = [newEvent(), newEvent(), newEvent()];
  assert.deepEqual((await server.post(project, events)).body, {
    accepted: 3,
    duplicates: 0,
    rejected: [],
  });
  assert.deepEqual((await server.post(project, events)).body, {
    accepted: 3,
    duplicates: 3,
    rejected: [],
  });
  const grown = [...events.slice(1), newEvent()];
  assert.deepEqual((await server.post(project, grown)).body, {
    accepted: 3,
    duplicates: 2,
    rejected: [],
  });
  assert.equal((await server.stored(project)).length, 4);
});

Deno.test("POST /v1/events: the first stored version of an id wins, whatever the replay changes", async () => {
  const project = await server.project();
  const eventId = "6BA7B810-9DAD-11D1-80B4-00C04FD430C8";
  await server.post(project, [{ eventId, name: "first", properties: { a: 1 } }]);
  const replay = { eventId: eventId.toLowerCase(), name: "second", timestamp: 1_700_000_000_000 };
  assert.equal((await server.post(project, [replay])).body.duplicates, 1);
  const other = { ...replay, name: "third" };
  assert.equal(
    (await server.post(project, [other], { key: project.secretKey })).body.duplicates,
    1,
  );
  const events = await server.stored(project);
  assert.deepEqual(events.map((event) => [event.eventId, event.name]), [
    [eventId.toLowerCase(), "first"],
  ]);
});

Deno.test("POST /v1/events: the same id twice in one batch is accepted twice and stored once, the first", async () => {
  const project = await server.project();
  const eventId = crypto.randomUUID();
  const twice = [{ eventId, name: "one" }, { eventId: eventId.toUpperCase(), name: "two" }];
  assert.deepEqual((await server.post(project, twice)).body, {
    accepted: 2,
    duplicates: 1,
    rejected: [],
  });
  assert.deepEqual((await server.stored(project)).map((event) => event.name), ["one"]);
  assert.equal((await server.post(project, twice)).body.duplicates, 2);
});

Deno.test("POST /v1/events: the same id in two projects is two events", async () => {
  const [one, two] = [await server.project(), await server.project()];
  const eventId = crypto.randomUUID();
  const replies = [
    await server.post(one, [{ eventId, name: "in one" }]),
    await server.post(two, [{ eventId, name: "in two" }]),
  ];
  assert.deepEqual(replies.map((reply) => reply.body.duplicates), [0, 0]);
  assert.deepEqual((await server.stored(one)).map((event) => event.name), ["in one"]);
  assert.deepEqual((await server.stored(two)).map((event) => event.name), ["in two"]);
});

Deno.test("POST /v1/events: concurrent posts of one id store it once, and one of them knows it was first", async () => {
  const project = await server.project();
  const event = newEvent();
  const replies = await Promise.all(
    Array.from({ length: 20 }, () => server.post(project, [event, newEvent()])),
  );
  assert.ok(replies.every((reply) => reply.status === 200 && reply.body.accepted === 2));
  assert.equal(replies.reduce((sum, reply) => sum + reply.body.duplicates, 0), 19);
  assert.equal((await server.stored(project)).length, 21);
});

Deno.test("POST /v1/events: a bad event never affects its batch", async () => {
  const project = await server.project();
  const bad = newEvent({ name: 5 });
  const { status, body } = await server.post(project, [
    newEvent(),
    bad,
    null,
    "text",
    newEvent(),
    [],
    { name: "no id" },
    { eventId: "not a uuid" },
  ]);
  assert.equal(status, 200);
  assert.deepEqual([body.accepted, body.duplicates], [2, 0]);
  assert.deepEqual(
    body.rejected.map((one: Record<string, unknown>) => [one.index, one.eventId, one.code]),
    [
      [1, bad.eventId, "invalid_type"],
      [2, null, "invalid_event"],
      [3, null, "invalid_event"],
      [5, null, "invalid_event"],
      [6, null, "missing_event_id"],
      [7, "not a uuid", "invalid_event_id"],
    ],
  );
  for (const one of body.rejected) assert.ok(one.message.length > 0);
  assert.equal((await server.stored(project)).length, 2);
});

Deno.test("POST /v1/events: no valid event at all is 400 invalid_events with the same list in errors", async () => {
  const project = await server.project();
  const wrong = newEvent({ title: 7 });
  const { status, body } = await server.post(project, [wrong, null]);
  assert.equal(status, 400);
  assert.equal(body.code, "invalid_events");
  assert.deepEqual(
    body.errors.map((one: Record<string, unknown>) => [
      one.index,
      one.eventId,
      one.code,
      one.field,
    ]),
    [[0, wrong.eventId, "invalid_type", "title"], [1, null, "invalid_event", ""]],
  );
  assert.equal((await server.stored(project)).length, 0);
});

Deno.test("POST /v1/events: 500 events in one request are accepted, 501 are not, and none of these is stored", async () => {
  const project = await server.project();
  const events = Array.from({ length: 501 }, () => newEvent());
  const over = await server.post(project, events);
  assert.equal(over.status, 413);
  assert.equal(over.body.code, "too_many_events");
  assert.equal((await server.stored(project)).length, 0);
  assert.equal((await server.post(project, events.slice(0, 500))).body.accepted, 500);
  assert.equal((await server.stored(project)).length, 500);
});

Deno.test("POST /v1/events: invalid events count for the limit of 500", async () => {
  const project = await server.project();
  const { status } = await server.post(project, Array.from({ length: 501 }, () => null));
  assert.equal(status, 413);
});

Deno.test("POST /v1/events: unknown members of the envelope are ignored", async () => {
  const project = await server.project();
  const { status } = await server.post(project, [newEvent()], {
    envelope: { batchId: 5, client: { version: "1" }, sentAt: { odd: true } },
  });
  assert.equal(status, 200);
});

/** What does not depend on when the rows came and to which project, in the order of their ids. */
function lasting(events: Json[]): Json[] {
  return events.map((event) => {
    const { server: added, ...sent } = event.properties as { server: Json };
    const without = ({ ingestedAt: _, hash: __, ...rest }: Json) => rest;
    const stored = without(event.server as Json);
    return { ...event, server: stored, properties: { ...sent, server: without(added) } };
  }).sort((a, b) => String((a as Json).eventId) < String((b as Json).eventId) ? -1 : 1);
}

Deno.test("POST /v1/events: any split, order and repetition of a set of events stores the same rows", async () => {
  const at = Date.now() - 60_000;
  const events = Array.from({ length: 12 }, (_, i) =>
    newEvent({
      name: ["page_view", "click", "custom"][i % 3],
      timestamp: at + (i % 4) * 1000,
      url: `https://shop.example/p/${i}?utm_source=s${i}`,
      anonymousId: `visitor ${i % 5}`,
      properties: { i, x: 0.25 },
      unknown: { kept: i },
    }));
  const shown = async (batches: number[][]) => {
    const project = await server.project();
    const replies = await Promise.all(
      batches.map((batch) => server.post(project, batch.map((i) => events[i]!))),
    );
    assert.ok(replies.every((reply) => reply.status === 200));
    return lasting(await server.stored(project));
  };
  const expected = await shown([events.map((_, i) => i)]);
  assert.equal(expected.length, events.length);
  const plan = fc.array(
    fc.array(fc.nat({ max: events.length - 1 }), { minLength: 1, maxLength: 8 }),
    { maxLength: 6 },
  ).chain((some) =>
    fc.shuffledSubarray(events.map((_, i) => i), { minLength: events.length }).map((all) => {
      const cut = some.length % events.length;
      return [...some, all.slice(0, cut), all.slice(cut)].filter((batch) => batch.length > 0);
    })
  );
  await fc.assert(
    fc.asyncProperty(plan, async (batches) => {
      assert.deepEqual(await shown(batches), expected);
    }),
    { numRuns: 25 },
  );
});
