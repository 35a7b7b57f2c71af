import assert from "node:assert/strict";
import { type BodyLimits, withBody, withBodyText } from "../../src/http/body.ts";
import { ClientGone } from "../../src/http/client_gone.ts";
import { BodyBudget, SLOW_BODY_MS_MIN } from "../../src/http/body_budget.ts";
import {
  KEYED_BODIES_IN_FLIGHT_BYTES_MAX,
  LARGE_BODY_BYTES,
  SMALL_BODIES_SHARE,
  SMALL_BODY_BYTES,
} from "../../src/limits.ts";
import { Problem } from "../../src/problem.ts";
import { until } from "../support/server_process.ts";
import { StoppedClock } from "../support/stopped_clock.ts";

/** Longer than any test waits, so that only the other limits are met. */
const NEVER_MS = 600_000;
const WAIT_MS_MAX = 20_000;
const IDLE_MS_MAX = 150;
const TOTAL_MS_MAX = 400;

const LIMITS: BodyLimits = {
  wireBytesMax: 1000,
  inflatedBytesMax: 5000,
  idleMsMax: NEVER_MS,
  totalMsMax: NEVER_MS,
};

const utf8 = new TextEncoder();
const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** Returns a request whose body `write` fills; an error of `write` breaks the connection. */
function request(
  write: (send: (text: string) => void) => Promise<unknown>,
  headers: Record<string, string> = {},
): Request {
  const body = new ReadableStream<Uint8Array>({
    async start(controller) {
      let open = true;
      try {
        await write((text) => open && controller.enqueue(utf8.encode(text)));
        controller.close();
      } catch (error) {
        open = false;
        try {
          controller.error(error);
        } catch { /* cancelled meanwhile */ }
      }
    },
  });
  return new Request("http://x/", { method: "POST", body, headers });
}

const read = (sent: Request, budget = new BodyBudget(100_000, 2), limits: BodyLimits = LIMITS) =>
  withBodyText(sent, limits, budget, (text) => text);
const readIn = (sent: Request, limits: Partial<BodyLimits>) =>
  read(sent, undefined, { ...LIMITS, ...limits });

async function assertFails(work: Promise<unknown>, code: string): Promise<Problem> {
  const error = await work.then(() => null, (thrown) => thrown);
  assert.ok(error instanceof Problem, String(error));
  assert.equal(error.code, code);
  return error;
}

Deno.test("withBodyText: chunks are joined, characters across their borders too", async () => {
  const bytes = utf8.encode("ä🦆");
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      for (const byte of bytes) controller.enqueue(new Uint8Array([byte]));
      controller.close();
    },
  });
  assert.equal(await read(new Request("http://x/", { method: "POST", body })), "ä🦆");
  assert.equal(await read(new Request("http://x/", { method: "POST" })), "");
});

Deno.test("withBodyText: a body that stops arriving is body_timeout", async () => {
  const resting = Promise.withResolvers<void>();
  const sent = request((send) => (send("{"), wait(600).then(() => resting.resolve())));
  await assertFails(readIn(sent, { idleMsMax: IDLE_MS_MAX }), "body_timeout");
  await resting.promise;
});

Deno.test("withBodyText: a body that keeps arriving slowly is body_timeout in the end", async () => {
  const startedAt = performance.now();
  let isOver = false;
  const dripping = request(async (send) => {
    while (!isOver) {
      send(" ");
      await wait(50);
    }
  });
  const problem = await assertFails(readIn(dripping, { totalMsMax: TOTAL_MS_MAX }), "body_timeout");
  isOver = true;
  assert.ok(performance.now() - startedAt >= TOTAL_MS_MAX - 10);
  assert.equal(problem.options.headers?.Connection, "close");
  await wait(50);
});

Deno.test("withBodyText: one that pauses for less than the limit is read", async () => {
  const pausing = request(async (send) => {
    for (const part of ["a", "b", "c"]) {
      send(part);
      await wait(90);
    }
  });
  // Ten times the pause, so that it suffices on a slow machine.
  assert.equal(await readIn(pausing, { idleMsMax: 900 }), "abc");
});

Deno.test("withBodyText: too many bytes are body_too_large as soon as they are too many", async () => {
  const whole = (bytes: number) => request((send) => Promise.resolve(send("x".repeat(bytes))));
  assert.equal((await read(whole(1000))).length, 1000);
  await assertFails(read(whole(1001)), "body_too_large");
  let sent = 0;
  const endless = new ReadableStream<Uint8Array>({
    pull(controller) {
      sent += 100;
      controller.enqueue(new Uint8Array(100));
    },
  });
  const request_ = new Request("http://x/", { method: "POST", body: endless });
  await assertFails(read(request_), "body_too_large");
  assert.ok(sent < 2000);
});

Deno.test("withBodyText: a broken connection is ClientGone", async () => {
  const broken = request(async (send) => {
    send("{");
    await wait(10);
    throw new TypeError("connection reset");
  });
  await assert.rejects(read(broken), ClientGone);
});

Deno.test("withBodyText: an exhausted budget is overloaded, and its bytes are returned in every case", async () => {
  const budget = new BodyBudget(1500, 3);
  const release = Promise.withResolvers<void>();
  const holding = withBodyText(
    new Request("http://x/", { method: "POST", body: "x".repeat(900) }),
    LIMITS,
    budget,
    async () => await release.promise,
  );
  await until(WAIT_MS_MAX, () => Promise.resolve(budget.bytes === 900), "the first is held");
  const second = new Request("http://x/", { method: "POST", body: "x".repeat(900) });
  const problem = await assertFails(read(second, budget), "overloaded");
  assert.equal(problem.options.headers?.["Retry-After"], "3");
  assert.equal(budget.bytes, 900);
  release.resolve();
  await holding;
  assert.equal(budget.bytes, 0);
  const thrower = new Request("http://x/", { method: "POST", body: "x" });
  const failing = withBodyText(thrower, LIMITS, budget, () => Promise.reject(new Error("mine")));
  await assert.rejects(failing, /mine/);
  assert.equal(budget.bytes, 0);
});

Deno.test("BodyBudget: large bodies leave a share to small ones", () => {
  const bytesMax = 16 * SMALL_BODY_BYTES;
  const budget = new BodyBudget(bytesMax, 1);
  const large = 2 * SMALL_BODY_BYTES;
  let held = 0;
  for (; held + large <= bytesMax * (1 - SMALL_BODIES_SHARE); held += large) {
    budget.take(large, large);
  }
  assert.throws(() => budget.take(large, large), Problem);
  assert.throws(() => budget.take(1, SMALL_BODY_BYTES + 1), Problem);
  for (; held < bytesMax; held += SMALL_BODY_BYTES) budget.take(SMALL_BODY_BYTES, SMALL_BODY_BYTES);
  assert.throws(() => budget.take(1, 1), Problem);
});

Deno.test("BodyBudget: bodies that contain their key have a part of their own", () => {
  const budget = new BodyBudget(2 * KEYED_BODIES_IN_FLIGHT_BYTES_MAX, 1);
  const { keyed } = budget;
  budget.take(10, 10);
  for (let held = 0; held < KEYED_BODIES_IN_FLIGHT_BYTES_MAX; held += SMALL_BODY_BYTES) {
    keyed.take(SMALL_BODY_BYTES, SMALL_BODY_BYTES);
  }
  assert.throws(() => keyed.take(1, 1), Problem);
  budget.take(10, 10);
  assert.equal(budget.bytes, KEYED_BODIES_IN_FLIGHT_BYTES_MAX + 20);
  keyed.give(SMALL_BODY_BYTES);
  assert.equal(budget.bytes, KEYED_BODIES_IN_FLIGHT_BYTES_MAX + 20 - SMALL_BODY_BYTES);
  budget.close();
  assert.ok(budget.keyed.closing.aborted);
});

Deno.test("BodyBudget: if unknown senders are slow, the slowest makes room for others", async () => {
  const { keyed } = new BodyBudget(2 * KEYED_BODIES_IN_FLIGHT_BYTES_MAX, 1);
  const limits = { ...LIMITS, wireBytesMax: 1e7 };
  using clock = new StoppedClock();
  const part = "x".repeat(SMALL_BODY_BYTES);
  const ending = Promise.withResolvers<void>();
  const slow = Array.from(
    { length: KEYED_BODIES_IN_FLIGHT_BYTES_MAX / SMALL_BODY_BYTES },
    () => read(request((send) => (send(part), ending.promise)), keyed, limits),
  );
  const outcomes = slow.map((body) => body.then(() => "whole", ({ code }) => code));
  await until(WAIT_MS_MAX, () => Promise.resolve(keyed.bytes === keyed.bytesMax), "all is taken");
  const quick = () => read(request((send) => Promise.resolve(send("{}"))), keyed, limits);
  clock.advance(SLOW_BODY_MS_MIN - 1);
  await assertFails(quick(), "overloaded");
  clock.advance(1);
  assert.equal(await quick(), "{}");
  assert.equal(await outcomes[0], "overloaded");
  ending.resolve();
  assert.deepEqual([...new Set((await Promise.all(outcomes)).slice(1))], ["whole"]);
  assert.equal(keyed.bytes, 0);
});

Deno.test("BodyBudget: nobody is given up for a large body beyond the share of large ones", async () => {
  const { keyed } = new BodyBudget(2 * KEYED_BODIES_IN_FLIGHT_BYTES_MAX, 1);
  const ending = Promise.withResolvers<void>();
  using clock = new StoppedClock();
  const slow = read(request((send) => (send("{}"), ending.promise)), keyed);
  await until(WAIT_MS_MAX, () => Promise.resolve(keyed.bytes === 2), "it has begun");
  keyed.take(keyed.bytesMax * (1 - SMALL_BODIES_SHARE), SMALL_BODY_BYTES);
  clock.advance(SLOW_BODY_MS_MIN);
  assert.throws(() => keyed.take(1, SMALL_BODY_BYTES + 1), Problem);
  ending.resolve();
  assert.equal(await slow, "{}");
});

Deno.test("BodyBudget: an independent budget has bytes of its own, and closes with the first", () => {
  const budget = new BodyBudget(10, 1);
  const beside = budget.beside(20);
  beside.take(20, 20);
  budget.take(7, 7);
  assert.deepEqual([budget.bytes, budget.bytesInAll], [7, 27]);
  budget.close();
  assert.ok(beside.closing.aborted);
});

Deno.test("withBody: large bodies are inflated one at a time, and small ones meanwhile", async () => {
  const zip = async (bytes: number) =>
    await new Response(
      new Blob([new Uint8Array(bytes)]).stream().pipeThrough(new CompressionStream("gzip")),
    ).bytes();
  const limits = { ...LIMITS, wireBytesMax: 1e6, inflatedBytesMax: 4e6 };
  const budget = new BodyBudget(1e8, 1);
  const headers = { "Content-Encoding": "gzip" };
  let inside = 0;
  let most = 0;
  const gate = Promise.withResolvers<void>();
  const send = async (body: Uint8Array<ArrayBuffer>, released: Promise<void>) =>
    await withBody(
      new Request("http://x/", { method: "POST", body, headers }),
      limits,
      budget,
      () => {},
      async ({ length }) => {
        if (length > LARGE_BODY_BYTES) most = Math.max(most, ++inside);
        await released;
        if (length > LARGE_BODY_BYTES) inside--;
        return length;
      },
    );
  const large = await zip(LARGE_BODY_BYTES + 1);
  const waiting = [1, 2, 3].map(() => send(large, gate.promise));
  const small = await zip(LARGE_BODY_BYTES);
  assert.equal(await send(small, Promise.resolve()), LARGE_BODY_BYTES);
  gate.resolve();
  assert.deepEqual(await Promise.all(waiting), Array(3).fill(LARGE_BODY_BYTES + 1));
  assert.equal(most, 1);
  assert.equal(budget.bytes, 0);

  const last = Promise.withResolvers<void>();
  const first = send(large, last.promise);
  await until(30_000, () => Promise.resolve(inside === 1), "the first is in its turn");
  const second = send(large, last.promise);
  budget.close();
  last.resolve();
  assert.equal(await first, LARGE_BODY_BYTES + 1);
  await assertFails(second, "shutting_down");
  assert.equal(budget.bytes, 0);
});

Deno.test("withBodyText: inflated bytes count against the budget too", async () => {
  const stream = new Blob(["x".repeat(4000)]).stream().pipeThrough(new CompressionStream("gzip"));
  const body = await new Response(stream).bytes();
  const headers = { "Content-Encoding": "gzip" };
  const sent = () => new Request("http://x/", { method: "POST", body, headers });
  assert.equal((await read(sent())).length, 4000);
  await assertFails(read(sent(), new BodyBudget(2000, 1)), "overloaded");
});

Deno.test("withBodyText: a half-received body is shutting_down when the server gives up", async () => {
  const budget = new BodyBudget(100_000, 2);
  const ending = Promise.withResolvers<void>();
  const slow = read(request(async (send) => (send("{"), await ending.promise, send("}"))), budget);
  await until(WAIT_MS_MAX, () => Promise.resolve(budget.bytes === 1), "half of it is there");
  budget.close();
  const problem = await assertFails(slow, "shutting_down");
  assert.equal(problem.options.headers?.["Retry-After"], "2");
  assert.equal(budget.bytes, 0);
  ending.resolve();
});

/** Serves `withBodyText` on a real socket; replies are statuses alone. */
function serve(outcomes: string[], budget: BodyBudget, limits: BodyLimits) {
  return Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, async (sent) => {
    try {
      const text = await read(sent, budget, limits);
      outcomes.push(`read ${text.length}`);
      return new Response(text);
    } catch (error) {
      outcomes.push(error instanceof Problem ? error.code : (error as Error).name);
      return new Response(null, { status: error instanceof Problem ? error.status : 499 });
    }
  });
}

const HALF = "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nhalf";

async function sendHalf({ addr }: Deno.HttpServer<Deno.NetAddr>): Promise<Deno.TcpConn> {
  const client = await Deno.connect({ hostname: "127.0.0.1", port: addr.port });
  await client.write(utf8.encode(HALF));
  return client;
}

async function answerTo(client: Deno.TcpConn): Promise<string> {
  const answer = new Uint8Array(200);
  return new TextDecoder().decode(answer.subarray(0, await client.read(answer) ?? 0));
}

Deno.test("withBodyText: over a socket, a client that goes away is ClientGone", async () => {
  const outcomes: string[] = [];
  const budget = new BodyBudget(100_000, 2);
  const server = serve(outcomes, budget, LIMITS);
  const gone = await sendHalf(server);
  await until(WAIT_MS_MAX, () => Promise.resolve(budget.bytes > 0), "half of it is there");
  gone.close();
  await until(WAIT_MS_MAX, () => Promise.resolve(outcomes.length > 0), "something comes of it");
  await server.shutdown();
  assert.deepEqual(outcomes, ["ClientGone"]);
});

Deno.test("withBodyText: over a socket, a silent client is answered 408", async () => {
  const outcomes: string[] = [];
  const budget = new BodyBudget(100_000, 2);
  const server = serve(outcomes, budget, { ...LIMITS, idleMsMax: IDLE_MS_MAX });
  const silent = await sendHalf(server);
  assert.match(await answerTo(silent), /^HTTP\/1\.1 408 /);
  silent.close();
  await server.shutdown();
  assert.deepEqual(outcomes, ["body_timeout"]);
});

Deno.test("withBodyText: over a socket, a half-received body is answered 503 before the server ends", async () => {
  const outcomes: string[] = [];
  const budget = new BodyBudget(100_000, 2);
  const server = serve(outcomes, budget, LIMITS);
  const client = await sendHalf(server);
  await until(WAIT_MS_MAX, () => Promise.resolve(budget.bytes > 0), "half of it is there");
  budget.close();
  assert.match(await answerTo(client), /^HTTP\/1\.1 503 /);
  client.close();
  await server.shutdown();
  assert.deepEqual(outcomes, ["shutting_down"]);
});
