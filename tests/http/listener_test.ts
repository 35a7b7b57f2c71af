import assert from "node:assert/strict";
import { PHASE_LIMITS, type PhaseLimits } from "../../src/http/connections.ts";
import { asLong } from "../../src/http/long_reply.ts";
import { listen, type Listener, type ListenerOptions } from "../../src/http/listener.ts";
import { jsonText } from "../../src/http/reply.ts";
import {
  ANSWER_PROTECTED_MS,
  CONNECTION_HEAD_MS_MAX,
  CONNECTION_IDLE_MS_MAX,
  CONNECTION_LINGER_MS_MAX,
  CONNECTION_PROTECTED_MS,
  REPLY_SEND_MS_MAX,
} from "../../src/limits.ts";
import { pause, until, within } from "../support/server_process.ts";
import { StoppedClock } from "../support/stopped_clock.ts";
import { Http2Connection } from "../reliability/http2_connection.ts";
import { RawConnection } from "../reliability/raw_connection.ts";

const HEAD = "GET / HTTP/1.1\r\nHost: footfall.test\r\n";
const GET = `${HEAD}\r\n`;
/** A generous limit even on a slow machine. */
const SOON_MS = 20_000;
const SHORT_MS = 200;
const SWEEP_MS = 20;
const NEVER: PhaseLimits = {
  silent: null,
  idle: null,
  answering: null,
  sending: null,
  streaming: null,
  closing: null,
};

class World implements AsyncDisposable {
  readonly warnings: string[] = [];
  readonly #stack = new DisposableStack();
  readonly listener: Listener;

  constructor(options: Partial<ListenerOptions> = {}) {
    this.listener = listen({
      hostname: "127.0.0.1",
      port: 0,
      answer: () => Promise.resolve(new Response("well")),
      onError: (error) => new Response(String(error), { status: 500 }),
      log: { warn: (message) => void this.warnings.push(message) },
      limits: NEVER,
      sweepMs: SWEEP_MS,
      ...options,
    });
  }

  async open(sent = ""): Promise<RawConnection> {
    const before = this.listener.connections;
    const connection = this.#stack.use(await RawConnection.open(this.listener.addr.port));
    await connection.send(sent);
    await until(
      SOON_MS,
      () => Promise.resolve(this.listener.connections !== before || sent !== ""),
      "accepted",
    );
    return connection;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stack.dispose();
    await this.listener.close();
  }
}

function listenerTest(name: string, fn: () => Promise<void>): void {
  Deno.test({ name: `listener: ${name}`, fn, sanitizeOps: true, sanitizeResources: true });
}

/** @returns whether the server closes the connection within `ms` */
async function isClosed(connection: RawConnection, ms = SOON_MS): Promise<boolean> {
  const reply = connection.reply(ms).then(() => false, (error) => /ended/.test(String(error)));
  return await reply;
}

listenerTest("the limits are those that are documented", () => {
  assert.deepEqual(PHASE_LIMITS, {
    silent: CONNECTION_HEAD_MS_MAX,
    idle: CONNECTION_IDLE_MS_MAX,
    answering: null,
    sending: REPLY_SEND_MS_MAX,
    streaming: null,
    closing: CONNECTION_LINGER_MS_MAX,
  });
  return Promise.resolve();
});

listenerTest("who sends no head is closed in time, whoever asks and waits is not", async () => {
  await using world = new World({ limits: { ...NEVER, silent: SHORT_MS } });
  const asked = await world.open(GET);
  assert.equal((await asked.reply()).status, 200);
  const openedAt = performance.now();
  const silent = await world.open();
  const half = await world.open(HEAD);
  assert(await isClosed(silent));
  assert(await isClosed(half));
  assert(performance.now() - openedAt >= SHORT_MS, "closed too soon");
  await asked.send(GET);
  assert.equal((await asked.reply()).status, 200);
});

listenerTest(
  "an idle connection is closed in time; each request begins the time anew",
  async () => {
    using clock = new StoppedClock();
    await using world = new World({ limits: { ...NEVER, idle: SHORT_MS } });
    const silent = await world.open();
    const connection = await world.open(GET);
    assert.equal((await connection.reply()).status, 200);
    // Longer in all than the limit, each time shorter.
    for (let i = 0; i < 4; i++) {
      clock.advance(SHORT_MS - 1);
      await pause(3 * SWEEP_MS);
      assert(await connection.send(GET));
      assert.equal((await connection.reply()).status, 200);
    }
    // A second, incomplete head counts as silence too.
    await connection.send(HEAD);
    const passing = setInterval(() => clock.advance(SHORT_MS), SWEEP_MS);
    assert(await isClosed(connection).finally(() => clearInterval(passing)));
    await silent.send(GET);
    assert.equal((await silent.reply()).status, 200);
  },
);

listenerTest("a stream outlives every limit, a reply that nobody takes does not", async () => {
  const ticks = () => {
    let timer: ReturnType<typeof setInterval>;
    return new ReadableStream<Uint8Array<ArrayBuffer>>({
      start(controller) {
        timer = setInterval(() => controller.enqueue(new TextEncoder().encode(":\n\n")), SHORT_MS);
      },
      cancel: () => clearInterval(timer),
    });
  };
  const endless = () =>
    new ReadableStream<Uint8Array<ArrayBuffer>>({
      pull: (controller) => controller.enqueue(new Uint8Array(65_536)),
    });
  await using world = new World({
    limits: { ...NEVER, silent: SHORT_MS, idle: SHORT_MS, sending: SHORT_MS, closing: SHORT_MS },
    answer: ({ url }) =>
      Promise.resolve(
        new URL(url).pathname === "/live" ? asLong(new Response(ticks())) : new Response(endless()),
      ),
  });
  const live = await world.open(GET.replace(" / ", " /live "));
  const greedy = await world.open(GET);
  await until(SOON_MS, () => Promise.resolve(world.listener.connections === 1), "one is left");
  const received = new Uint8Array(65_536);
  for (let i = 0; i < 4; i++) {
    assert(await within(SOON_MS, live.socket.read(received), "A tick") !== null);
  }
  greedy[Symbol.dispose]();
});

/**
 * Answers `/live` with a stream, `/empty` without a body, and all others with one that is never taken: a stream,
 * as the runtime takes a text of HTTP/2 for sent before its client has taken any of it.
 */
function answerHttp2({ url }: Request): Promise<Response> {
  const { pathname } = new URL(url);
  if (pathname === "/live") return Promise.resolve(asLong(new Response(new ReadableStream())));
  if (pathname === "/empty") return Promise.resolve(new Response(null));
  return Promise.resolve(new Response(ReadableStream.from([new Uint8Array(1)])));
}

listenerTest("of HTTP/2, many replies that nobody takes end as one does", async () => {
  await using world = new World({
    limits: { ...NEVER, sending: SHORT_MS },
    answer: answerHttp2,
  });
  using untaken = new Http2Connection(world.listener.addr.port);
  await Promise.all([untaken.get("/"), untaken.get("/"), untaken.get("/")]);
  await within(SOON_MS, untaken.ended, "Closing");
  // Nor do requests beside one prolong its time, whether they are answered, taken or neither.
  using busy = new Http2Connection(world.listener.addr.port);
  await busy.get("/live");
  await busy.get("/");
  const asking = setInterval(() => busy.get("/empty").catch(() => {}), SHORT_MS / 4);
  await within(SOON_MS, busy.ended, "Closing").finally(() => clearInterval(asking));
});

listenerTest("of HTTP/2, as many replies may be untaken as there may be connections", async () => {
  const connectionsMax = 6;
  await using world = new World({ connectionsMax, answer: answerHttp2 });
  using oldest = new Http2Connection(world.listener.addr.port);
  await Promise.all([oldest.get("/"), oldest.get("/"), oldest.get("/")]);
  await pause(2 * CONNECTION_PROTECTED_MS);
  using next = new Http2Connection(world.listener.addr.port);
  await Promise.all([next.get("/"), next.get("/"), next.get("/")]);
  await pause(2 * CONNECTION_PROTECTED_MS);
  assert.equal(world.listener.connections, 2);
  await next.get("/");
  await within(SOON_MS, oldest.ended, "Closing");
  assert.deepEqual(await Promise.all([next.get("/"), next.get("/")]), [200, 200]);
  assert.equal(world.listener.connections, 1);
});

listenerTest("of HTTP/2, large JSON that nobody takes is bounded by its bytes", async () => {
  const text = "x".repeat(100_000);
  await using world = new World({
    untakenBytesMax: 450_000,
    answer: ({ url }) =>
      Promise.resolve(jsonText(new URL(url).pathname === "/small" ? "{}" : text)),
  });
  using small = new Http2Connection(world.listener.addr.port);
  await Promise.all([small.get("/small"), small.get("/small")]);
  using oldest = new Http2Connection(world.listener.addr.port);
  await Promise.all([oldest.get("/"), oldest.get("/"), oldest.get("/")]);
  using next = new Http2Connection(world.listener.addr.port);
  await next.get("/");
  await pause(2 * CONNECTION_PROTECTED_MS);
  assert.equal(world.listener.connections, 3);
  await next.get("/");
  const beyondAtMs = performance.now();
  await within(SOON_MS, oldest.ended, "Closing");
  const leftMs = performance.now() - beyondAtMs;
  assert.ok(leftMs > ANSWER_PROTECTED_MS / 2, "its client had time to take it");
  await Promise.all([next.get("/"), next.get("/")]);
  assert.equal(world.listener.connections, 2);
  const reply = await fetch(`http://127.0.0.1:${world.listener.addr.port}/`);
  assert.equal(reply.headers.get("content-length"), String(text.length));
  assert.equal(await reply.text(), text);
});

listenerTest("of HTTP/2, a stream stays open beside requests that were answered", async () => {
  await using world = new World({
    limits: { ...NEVER, answering: SHORT_MS, sending: SHORT_MS },
    answer: answerHttp2,
  });
  using connection = new Http2Connection(world.listener.addr.port);
  assert.deepEqual(await Promise.all([connection.get("/live"), connection.get("/empty")]), [
    200,
    200,
  ]);
  await pause(3 * SHORT_MS);
  assert.equal(world.listener.connections, 1);
});

listenerTest("a last reply is read by its client, and then the connection ends", async () => {
  await using world = new World({
    limits: { ...NEVER, closing: SHORT_MS },
    answer: () =>
      Promise.resolve(new Response("late", { status: 408, headers: { Connection: "close" } })),
  });
  const client = await world.open(
    "POST / HTTP/1.1\r\nHost: footfall.test\r\nContent-Length: 9\r\n\r\nabc",
  );
  const { status, text } = await client.reply();
  assert.equal(`${status} ${text}`, "408 late");
  assert(await isClosed(client));
});

listenerTest("at the bound, who waits longest for nothing makes room", async () => {
  await using world = new World({ connectionsMax: 3 });
  const idle = await world.open(GET);
  assert.equal((await idle.reply()).status, 200);
  const silent = [await world.open(), await world.open()];
  assert.equal(world.listener.connections, 3);
  assert.deepEqual(world.warnings, []);
  // A connection without any request is closed before one with an earlier request.
  await pause(2 * CONNECTION_PROTECTED_MS);
  for (const next of [...silent, idle]) {
    const other = await world.open(GET);
    assert.equal((await other.reply()).status, 200);
    assert(await isClosed(next));
  }
  assert.equal(world.warnings.length, 1);
  assert.equal(world.listener.connections, 3);
});

listenerTest("a new connection has the time to say what it wants", async () => {
  using clock = new StoppedClock();
  await using world = new World({ connectionsMax: 2 });
  const slow = [await world.open(), await world.open()];
  clock.advance(CONNECTION_PROTECTED_MS - 1);
  const next = await world.open(GET);
  await until(SOON_MS, () => Promise.resolve(world.warnings.length > 0), "room is looked for");
  for (const connection of slow) {
    await connection.send(GET);
    assert.equal((await connection.reply()).status, 200);
  }
  const passing = setInterval(() => clock.advance(CONNECTION_PROTECTED_MS), SWEEP_MS);
  const reply = await next.reply().finally(() => clearInterval(passing));
  assert.equal(reply.status, 200);
});

listenerTest("a connection is cut in the moment in which it ends", async () => {
  await using world = new World({ limits: { ...NEVER, silent: 1, idle: 1 }, sweepMs: 1 });
  for (let i = 0; i < 100; i++) {
    const connection = await world.open(i % 2 === 0 ? GET : HEAD);
    await pause(i % 5);
    connection[Symbol.dispose]();
  }
  await until(SOON_MS, () => Promise.resolve(world.listener.connections === 0), "all are gone");
  assert.deepEqual(world.warnings, []);
});

listenerTest("where everybody is being answered, the next one waits until one is", async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  await using world = new World({
    connectionsMax: 2,
    answer: async () => {
      await promise;
      return new Response("well");
    },
  });
  const connections = [await world.open(GET), await world.open(GET), await world.open(GET)];
  await pause(SHORT_MS);
  assert(world.listener.connections <= 2);
  resolve();
  for (const connection of connections) assert.equal((await connection.reply()).status, 200);
});

listenerTest("an accept that fails is tried again", async () => {
  const accept = Deno.listen;
  let failures = 0;
  // deno-lint-ignore no-explicit-any
  (Deno as any).listen = (options: Deno.TcpListenOptions) => {
    const real = accept(options);
    return {
      addr: real.addr,
      close: () => real.close(),
      accept: () =>
        failures++ < 3 ? Promise.reject(new Error("Too many open files")) : real.accept(),
    };
  };
  try {
    await using world = new World();
    const connection = await world.open(GET);
    assert.equal((await connection.reply()).status, 200);
    assert.equal(failures > 3, true);
    assert.equal(world.warnings.length, 1);
  } finally {
    // deno-lint-ignore no-explicit-any
    (Deno as any).listen = accept;
  }
});

listenerTest("closing answers what is under way and ends the rest", async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const world = new World({
    answer: async () => {
      await promise;
      return new Response("well");
    },
  });
  const silent = await world.open();
  const asked = await world.open(GET);
  await pause(50);
  const closing = world.listener.close();
  resolve();
  assert.equal((await asked.reply()).status, 200);
  assert(await isClosed(silent));
  await closing;
  await assert.rejects(RawConnection.open(world.listener.addr.port));
  silent[Symbol.dispose]();
  asked[Symbol.dispose]();
});

listenerTest("a Deno that cannot serve one connection serves them all, and says so", async () => {
  await using world = new World({ serve: null });
  assert.match(world.warnings[0]!, /reverse proxy/);
  const connection = await world.open(GET);
  assert.equal((await connection.reply()).status, 200);
});
