import assert from "node:assert/strict";
import { unauthorized } from "../../../src/auth/access.ts";
import { DatabaseUnavailable } from "../../../src/db/sql.ts";
import {
  LIVE_HEARTBEAT_MS,
  LIVE_LISTENERS_PER_PROJECT_MAX,
  LIVE_LISTENERS_PER_TOKEN_MAX,
  LIVE_LOOKS_AT_ONCE,
} from "../../../src/limits.ts";
import { Problem } from "../../../src/problem.ts";
import { LiveFeed, type LiveFeedOptions } from "../../../src/reports/live/live_feed.ts";
import type { ReadRequest } from "../../../src/reports/answer/report_endpoint.ts";
import { pause, until } from "../../support/server_process.ts";
import { asked, FOR_EVER, isProblem, Messages, PROJECT, WAIT_MS_MAX } from "./live_stream.ts";

/** A read that answers `state.value`, and a feed that looks every few milliseconds. */
function stubbed(options: Partial<LiveFeedOptions> = {}, signal?: AbortSignal) {
  const state = { value: 1, reads: 0, failure: null as Error | null, asked: [] as ReadRequest[] };
  const warnings: string[] = [];
  const feed = new LiveFeed({
    read: (one) => {
      state.reads++;
      state.asked.push(one);
      if (state.failure !== null) return Promise.reject(state.failure);
      const headers = { ETag: `W/"v${state.value}"` };
      return Promise.resolve(Response.json({ value: state.value }, { headers }));
    },
    log: { warn: (message, facts) => void warnings.push(`${message}: ${facts?.reason}`) },
    now: Date.now,
    intervalMs: 5,
    heartbeatMs: 60_000,
    ...options,
  }, signal);
  return { feed, state, warnings };
}

/** Deno looks for timers and connections left behind only where it is told to. */
function feedTest(name: string, fn: () => Promise<void>): void {
  Deno.test({ name: `live feed: ${name}`, fn, sanitizeOps: true, sanitizeResources: true });
}

feedTest("sends the state at the start and every change, and nothing in between", async () => {
  const { feed, state } = stubbed();
  const messages = new Messages(await feed.answer(asked(), FOR_EVER));
  assert.deepEqual(await messages.next(), {
    id: "v1",
    event: "live",
    retry: "3000",
    data: '{"value":1}',
  });
  const reads = state.reads;
  await until(WAIT_MS_MAX, () => Promise.resolve(state.reads > reads + 3), "more looks");
  state.value = 2;
  assert.deepEqual(await messages.data(), { value: 2 });
  await feed.close();
  assert.equal(await messages.next(), null);
});

feedTest("JSON for clients that do not accept a stream", async () => {
  const { feed } = stubbed();
  const response = await feed.answer(asked("", { headers: { Accept: "*/*" } }), FOR_EVER);
  assert.deepEqual(await response.json(), { value: 1 });
  assert.equal(feed.listeners, 0);
});

feedTest("streams with the same question share one read, others do not", async () => {
  const { feed, state } = stubbed({ intervalMs: 60_000 });
  const open = (search: string, project = PROJECT) =>
    feed.answer(asked(search, { headers: { "If-None-Match": 'W/"v1"' } }, project), FOR_EVER);
  const together = await Promise.all([
    open("&bots=only&timezone=UTC"),
    open("&timezone=UTC&bots=only"),
    open("&timezone=UTC&bots=only"),
  ]);
  assert.equal(state.reads, 1);
  // A reply that one stream has already may be unknown to the others.
  assert.equal(state.asked[0]!.request.headers.get("if-none-match"), null);
  const more = await Promise.all([
    open("&bots=include&timezone=UTC"),
    open("&bots=only&timezone=UTC", { ...PROJECT, projectId: 2, id: "prj_two" }),
  ]);
  assert.equal(state.reads, 3);
  assert.equal(feed.listeners, 5);
  for (const response of [...together, ...more]) {
    const messages = new Messages(response);
    assert.deepEqual(await messages.data(), { value: 1 });
    await messages.leave();
  }
  assert.equal(feed.listeners, 0);
  await feed.close();
});

feedTest("reads only while somebody listens", async () => {
  const { feed, state } = stubbed();
  const first = new Messages(await feed.answer(asked(), FOR_EVER));
  const second = new Messages(await feed.answer(asked(), FOR_EVER));
  await first.leave();
  const before = state.reads;
  await until(WAIT_MS_MAX, () => Promise.resolve(state.reads > before + 1), "looks for the second");
  await second.leave();
  const after = state.reads;
  await pause(50);
  assert.equal(state.reads, after);
  // The next stream sees the value of that moment.
  state.value = 7;
  const third = new Messages(await feed.answer(asked(), FOR_EVER));
  assert.deepEqual(await third.data(), { value: 7 });
  await feed.close();
});

feedTest("reads as the newest stream asks, since its project may have changed", async () => {
  const { feed, state } = stubbed();
  const first = new Messages(await feed.answer(asked(), FOR_EVER));
  const moved = { ...PROJECT, siteUrl: "https://new.example" };
  const second = new Messages(await feed.answer(asked("", {}, moved), FOR_EVER));
  const before = state.reads;
  await until(WAIT_MS_MAX, () => Promise.resolve(state.reads > before + 1), "a look");
  assert.equal(state.asked.at(-1)!.project.siteUrl, moved.siteUrl);
  await first.leave();
  await second.leave();
  await feed.close();
});

feedTest("a first read that fails is the answer, a later one is tried again", async () => {
  const { feed, state, warnings } = stubbed();
  state.failure = new Problem("invalid_parameter", "bots: Use one of …");
  await assert.rejects(feed.answer(asked(), FOR_EVER), isProblem("invalid_parameter"));
  assert.equal(feed.listeners, 0);
  state.failure = null;
  const messages = new Messages(await feed.answer(asked(), FOR_EVER));
  assert.deepEqual(await messages.data(), { value: 1 });
  state.failure = new Error("away");
  const before = state.reads;
  await until(WAIT_MS_MAX, () => Promise.resolve(state.reads > before + 3), "more looks");
  assert.deepEqual(warnings, ["live read failed: away"]);
  state.value = 2;
  state.failure = null;
  assert.deepEqual(await messages.data(), { value: 2 });
  await messages.leave();
  await feed.close();
});

feedTest("silence is broken by a comment", async () => {
  let nowMs = 1_000;
  const { feed, state } = stubbed({ now: () => nowMs, heartbeatMs: LIVE_HEARTBEAT_MS });
  const messages = new Messages(await feed.answer(asked(), FOR_EVER));
  await messages.data();
  const looks = async () => {
    const before = state.reads;
    await until(WAIT_MS_MAX, () => Promise.resolve(state.reads > before + 3), "more looks");
  };
  nowMs += LIVE_HEARTBEAT_MS - 1;
  await looks();
  state.value = 2;
  assert.deepEqual(await messages.data(), { value: 2 });
  nowMs += LIVE_HEARTBEAT_MS;
  assert.deepEqual(await messages.next(), { "": "" });
  // One, until there is as long a silence again.
  await looks();
  state.value = 3;
  assert.deepEqual(await messages.data(), { value: 3 });
  await feed.close();
});

feedTest("a stream ends with its token, and the others continue", async () => {
  let nowMs = 1_000;
  const { feed, state } = stubbed({ now: () => nowMs });
  const short = new Messages(await feed.answer(asked(), { expiresAtMs: 2_000 }));
  const long = new Messages(await feed.answer(asked(), FOR_EVER));
  await short.data();
  await long.data();
  nowMs = 2_000;
  state.value = 2;
  assert.equal(await short.next(), null);
  assert.deepEqual(await long.data(), { value: 2 });
  assert.equal(feed.listeners, 1);
  await feed.close();
});

feedTest("a stream ends when its token is refused, not when it cannot be checked", async () => {
  const { feed, state } = stubbed();
  let failure: Error | null = null;
  const assertHolds = () => failure === null ? Promise.resolve() : Promise.reject(failure);
  const one = new Messages(await feed.answer(asked(), { ...FOR_EVER, assertHolds }));
  const other = new Messages(await feed.answer(asked(), FOR_EVER));
  await one.data();
  await other.data();
  for (failure of [null, new DatabaseUnavailable("lost")]) await feed.endRefused();
  assert.equal(feed.listeners, 2);
  failure = unauthorized("invalid_token", "It has been revoked.");
  await Promise.all([feed.endRefused(), feed.endRefused()]);
  assert.equal(await one.next(), null);
  state.value = 2;
  assert.deepEqual(await other.data(), { value: 2 });
  assert.equal(feed.listeners, 1);
  await feed.close();
});

feedTest("a slow reader misses updates in between, not the last one", async () => {
  const { feed, state } = stubbed();
  const response = await feed.answer(asked(), FOR_EVER);
  for (state.value = 2; state.value < 50; state.value++) await pause(2);
  const before = state.reads;
  await until(WAIT_MS_MAX, () => Promise.resolve(state.reads > before + 2), "more looks");
  const messages = new Messages(response);
  const seen = [await messages.data(), await messages.data()];
  // The update that was written at the start and waited, and the current one.
  assert.deepEqual(seen, [{ value: 1 }, { value: 50 }]);
  await feed.close();
});

feedTest("streams are bounded, and a closed one makes room", async () => {
  const { feed } = stubbed({ listenersMax: 2 });
  const first = new Messages(await feed.answer(asked(), FOR_EVER));
  const second = new Messages(await feed.answer(asked("&bots=only"), FOR_EVER));
  await assert.rejects(feed.answer(asked(), FOR_EVER), (error) => {
    assert(isProblem("overloaded")(error) && error instanceof Problem);
    assert.match(error.options.headers?.["Retry-After"] ?? "", /^\d+$/);
    return true;
  });
  await first.leave();
  const third = new Messages(await feed.answer(asked(), FOR_EVER));
  await third.data();
  await second.leave();
  // The reply to a HEAD has nothing to read, and takes no seat.
  const head = await feed.answer(asked("", { method: "HEAD" }), FOR_EVER);
  assert.equal(head.headers.get("content-type"), "text/event-stream");
  assert.equal(await head.text(), "");
  assert.equal(feed.listeners, 1);
  await feed.close();
});

const by = (token: string) => ({ headers: { Authorization: `Bearer ${token}` } });
const PROJECT_TWO = { ...PROJECT, projectId: 2, id: "prj_two" };

feedTest("however many questions there are, few reads are under way at once", async () => {
  let underWay = 0;
  let most = 0;
  const looked = new Set<string>();
  let open = false;
  const { feed } = stubbed({
    read: async ({ url }) => {
      if (open) {
        most = Math.max(most, ++underWay);
        await pause(2);
        underWay--;
        looked.add(url.search);
      }
      return Response.json({}, { headers: { ETag: 'W/"v"' } });
    },
  });
  for (let i = 0; i < 20; i++) await feed.answer(asked(`&filters=${i}`), FOR_EVER);
  open = true;
  await until(WAIT_MS_MAX, () => Promise.resolve(looked.size === 20), "everybody has its turn");
  assert.equal(most, LIVE_LOOKS_AT_ONCE);
  await feed.close();
});

feedTest("a clock that is set back does not silence the stream", async () => {
  let nowMs = 10 * 3_600_000;
  const { feed } = stubbed({ now: () => nowMs, heartbeatMs: LIVE_HEARTBEAT_MS });
  const messages = new Messages(await feed.answer(asked(), FOR_EVER));
  await messages.data();
  nowMs -= 3_600_000;
  assert.deepEqual(await messages.next(), { "": "" });
  await feed.close();
});

/** Asserts that `most` streams may be open and no more, with any filters, and that a closed one makes room. */
async function assertSeats(
  feed: LiveFeed,
  most: number,
  ask: (i: number) => ReadRequest,
  others: readonly ReadRequest[],
): Promise<void> {
  const open: Messages[] = [];
  for (let i = 0; i < most; i++) {
    open.push(new Messages(await feed.answer(ask(i), FOR_EVER)));
  }
  await assert.rejects(feed.answer(ask(most), FOR_EVER), (error) => {
    assert(isProblem("too_many_streams")(error) && error instanceof Problem);
    assert.equal(error.status, 429);
    assert.match(error.options.headers?.["Retry-After"] ?? "", /^[1-9]\d*$/);
    return true;
  });
  // JSON is no stream.
  const json = ask(most);
  json.request.headers.set("Accept", "application/json");
  assert.equal((await feed.answer(json, FOR_EVER)).status, 200);
  for (const other of others) open.push(new Messages(await feed.answer(other, FOR_EVER)));
  await open[0]!.leave();
  open.push(new Messages(await feed.answer(ask(most), FOR_EVER)));
  assert.equal(feed.listeners, most + others.length);
  await feed.close();
  assert.equal(feed.listeners, 0);
}

feedTest("a token has a bounded number of streams, whatever it asks", async () => {
  const { feed } = stubbed({ intervalMs: 60_000 });
  await assertSeats(
    feed,
    LIVE_LISTENERS_PER_TOKEN_MAX,
    (i) => asked(`&filters=${i}`, by("one"), i % 2 === 0 ? PROJECT : PROJECT_TWO),
    [asked("&filters=1", by("two")), asked("", by("two"), PROJECT_TWO)],
  );
});

feedTest("a project has a bounded number of streams, with any number of tokens", async () => {
  const { feed } = stubbed({ intervalMs: 60_000 });
  await assertSeats(
    feed,
    LIVE_LISTENERS_PER_PROJECT_MAX,
    (i) => asked(`&filters=${i}`, by(`token ${i}`)),
    [asked("", by("token 1"), PROJECT_TWO)],
  );
});

feedTest("stopping ends every stream, awaits the read under way, refuses more", async () => {
  const stop = new AbortController();
  let finish: (() => void) | null = null;
  const { feed } = stubbed({
    read: async () => {
      // The second read hangs until it is released.
      if (feed.listeners > 0 && started) {
        await new Promise<void>((resolve) => finish = resolve);
      }
      return Response.json({}, { headers: { ETag: 'W/"v"' } });
    },
  }, stop.signal);
  let started = false;
  const messages = new Messages(await feed.answer(asked(), FOR_EVER));
  await messages.data();
  started = true;
  await until(WAIT_MS_MAX, () => Promise.resolve(finish !== null), "a look under way");
  stop.abort();
  assert.equal(await messages.next(), null);
  assert.equal(feed.listeners, 0);
  let closed = false;
  const closing = feed.close().then(() => closed = true);
  await pause(20);
  assert.equal(closed, false);
  finish!();
  await closing;
  await assert.rejects(feed.answer(asked(), FOR_EVER), isProblem("shutting_down"));
});

feedTest("a client that disconnects is noticed", async () => {
  let gate: Promise<void> | null = null;
  let looks = 0;
  const { feed } = stubbed({
    read: async () => {
      looks++;
      await gate;
      return Response.json({}, { headers: { ETag: 'W/"v1"' } });
    },
  });
  const server = Deno.serve(
    { port: 0, hostname: "127.0.0.1", onListen: () => {} },
    () => feed.answer(asked(), FOR_EVER),
  );
  const address = `http://127.0.0.1:${server.addr.port}/`;
  const leaving = new AbortController();
  const response = await fetch(address, { signal: leaving.signal });
  const reader = response.body!.getReader();
  assert.match(new TextDecoder().decode((await reader.read()).value), /^id: v1\n/);
  assert.equal(feed.listeners, 1);
  leaving.abort();
  await assert.rejects(reader.read());
  await until(WAIT_MS_MAX, () => Promise.resolve(feed.listeners === 0), "the listener is gone");
  // So is a stream that is closed before its first message.
  const { promise, resolve } = Promise.withResolvers<void>();
  gate = promise;
  const hasty = new AbortController();
  const refused = assert.rejects(fetch(address, { signal: hasty.signal }));
  await until(WAIT_MS_MAX, () => Promise.resolve(feed.listeners === 1), "the hasty one is there");
  hasty.abort();
  await refused;
  resolve();
  await until(
    WAIT_MS_MAX,
    () => Promise.resolve(feed.listeners === 0),
    "the hasty listener is gone",
  );
  const after = looks;
  await pause(30);
  assert.equal(looks, after);
  await feed.close();
  await server.shutdown();
});
