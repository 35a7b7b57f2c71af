import assert from "node:assert/strict";
import fc from "fast-check";
import { type Connection, RequestRefused } from "../../src/cli/connection.ts";
import { forEachInFlight, sendBatch, withTemporaryKey } from "../../src/cli/event_sender.ts";

const OUTCOME = { accepted: 1, duplicates: 0, rejected: [] };
const SENDER = { address: "84.138.30.31", userAgent: "Mozilla/5.0" };
const IDLE = new AbortController().signal;

/** A connection that gives these replies one after the other and records the requests. */
function scripted(...replies: readonly Response[]) {
  const asked: string[] = [];
  let next = 0;
  const answer = (method: string, path: string) => {
    asked.push(`${method} ${path}`);
    return Promise.resolve(replies[next++] ?? new Response(null, { status: 500 }));
  };
  const connection: Connection = {
    url: "http://localhost",
    fetch: (path, init) => answer(init?.method ?? "GET", path),
    fetchAs: (_address, path, init) => answer(init.method ?? "GET", path),
    close: () => Promise.resolve(),
  };
  return { connection, asked };
}

const busy = () =>
  Response.json({ code: "overloaded", detail: "Busy." }, {
    status: 503,
    headers: { "Retry-After": "0.01" },
  });

Deno.test("sendBatch: asks again while the server has no time", async () => {
  const { connection, asked } = scripted(busy(), busy(), Response.json(OUTCOME));
  assert.deepEqual(await sendBatch(connection, "pk", SENDER, "{}", IDLE), OUTCOME);
  assert.equal(asked.length, 3);
});

Deno.test("sendBatch: gives up after eight times", async () => {
  const { connection, asked } = scripted(...Array.from({ length: 20 }, busy));
  await assert.rejects(
    sendBatch(connection, "pk", SENDER, "{}", IDLE),
    (error) => error instanceof RequestRefused && error.code === "overloaded",
  );
  assert.equal(asked.length, 8);
});

Deno.test("sendBatch: a batch without a valid event is an outcome, a bad key is a failure", async () => {
  const errors = [{ index: 3, code: "invalid_type", message: "No." }];
  const refused = (code: string, status: number) =>
    scripted(Response.json({ code, detail: "No.", errors }, { status })).connection;
  const outcome = await sendBatch(refused("invalid_events", 400), "pk", SENDER, "{}", IDLE);
  assert.deepEqual(outcome, { accepted: 0, duplicates: 0, rejected: errors });
  await assert.rejects(sendBatch(refused("invalid_api_key", 401), "pk", SENDER, "{}", IDLE));
});

Deno.test("sendBatch: an abort ends the waiting", async () => {
  const stop = new AbortController();
  const slow = Response.json({}, { status: 503, headers: { "Retry-After": "25" } });
  const sending = sendBatch(scripted(slow).connection, "pk", SENDER, "{}", stop.signal);
  setTimeout(() => stop.abort(), 10);
  await assert.rejects(sending, { name: "AbortError" });
});

Deno.test("withTemporaryKey: the key is revoked even when the work fails", async () => {
  const created = Response.json({ id: "key_1", key: "pk_1" }, { status: 201 });
  const { connection, asked } = scripted(created, new Response(null, { status: 204 }));
  const work = withTemporaryKey(connection, "prj_1", "test", 0, (key) => {
    assert.equal(key, "pk_1");
    return Promise.reject(new Error("broken"));
  });
  await assert.rejects(work, /broken/);
  assert.deepEqual(asked, ["POST /v1/projects/prj_1/keys", "DELETE /v1/projects/prj_1/keys/key_1"]);
});

Deno.test("forEachInFlight: does every item once, never more at once than asked", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.integer({ min: 0, max: 3 })),
      fc.integer({ min: 1, max: 5 }),
      async (items, atOnce) => {
        let running = 0;
        const done: number[] = [];
        await forEachInFlight(items.entries(), atOnce, async ([index, ticks]) => {
          assert.ok(++running <= atOnce);
          for (let i = 0; i < ticks; i++) await Promise.resolve();
          running--;
          done.push(index);
        });
        assert.deepEqual(done.sort((a, b) => a - b), items.map((_, index) => index));
      },
    ),
  );
});

Deno.test("forEachInFlight: a failure stops it, after what is under way has ended", async () => {
  const ended: number[] = [];
  const work = async (item: number) => {
    await new Promise((resolve) => setTimeout(resolve, 5 * item));
    if (item === 1) throw new Error("one");
    ended.push(item);
  };
  await assert.rejects(forEachInFlight([1, 2, 3, 4, 5, 6, 7, 8], 3, work), /one/);
  assert.deepEqual(ended, [2, 3]);
});
