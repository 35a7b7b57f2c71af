import assert from "node:assert/strict";
import { onFreshEngines } from "../support/databases.ts";
import { storedRows } from "../support/event_rows.ts";
import { Load, postBatch } from "../support/load.ts";
import {
  API_KEY,
  pause,
  type ServerProcess,
  startServer,
  until,
} from "../support/server_process.ts";
import {
  BODY_IDLE_MS_MAX,
  BODY_WIRE_BYTES_MAX,
  CONNECTION_HEAD_MS_MAX,
  CONNECTION_LINGER_MS_MAX,
} from "../../src/limits.ts";
import { post, postHead, RawConnection, type RawReply } from "./raw_connection.ts";

const GOOD = '{"events":[]}';
/** By how much a busy machine may be late. */
const LATE_MS_MAX = 20_000;

function told({ status, code }: RawReply): string {
  return code === null ? `${status}` : `${status} ${code}`;
}

async function answers(connection: RawConnection, msMax?: number): Promise<string> {
  return told(await connection.reply(msMax));
}

/** Clients that go away at every stage of a request. */
async function disconnectMidway(server: ServerProcess): Promise<void> {
  const whole = post(JSON.stringify({ events: [{ eventId: crypto.randomUUID() }] }));
  for (let round = 0; round < 10; round++) {
    const connections = await Promise.all(
      Array.from({ length: 30 }, () => RawConnection.open(server.port)),
    );
    await Promise.all(connections.map(async (connection, i) => {
      // Never the last byte: none of these is a whole request.
      await connection.send(whole.slice(0, Math.floor((whole.length * i) / 30)));
      if (i % 2 === 0) await pause(5);
      connection[Symbol.dispose]();
    }));
  }
}

/** Silent from the start, or within the head: closed without a word after the limit. */
async function neverAsk(server: ServerProcess): Promise<void> {
  using stack = new DisposableStack();
  const startedAt = performance.now();
  await Promise.all(["", "GET / HTTP/1.1\r\nHost: foot"].map(async (sent) => {
    const connection = stack.use(await RawConnection.open(server.port));
    await connection.send(sent);
    await assertEnds(connection, CONNECTION_HEAD_MS_MAX + LATE_MS_MAX);
    assert(performance.now() - startedAt > CONNECTION_HEAD_MS_MAX - 500, "it was closed too soon");
  }));
}

async function assertEnds(connection: RawConnection, msMax: number): Promise<void> {
  await assert.rejects(connection.reply(msMax), /The connection ended/);
}

/** Bodies that fall silent are answered after the limit, and their connection is closed. */
async function fallSilent(server: ServerProcess): Promise<void> {
  using stack = new DisposableStack();
  const startedAt = performance.now();
  const heads = [
    postHead({ "Content-Length": 1000 }),
    postHead({ "Content-Length": 1000 }) + '{"events":[',
    postHead({ "Transfer-Encoding": "chunked" }) + "3\r\n{  \r\n",
  ];
  const connections = await Promise.all(heads.map(async (head) => {
    const connection = stack.use(await RawConnection.open(server.port));
    await connection.send(head);
    return connection;
  }));
  await Promise.all(connections.map(async (connection) => {
    assert.equal(await answers(connection, BODY_IDLE_MS_MAX + LATE_MS_MAX), "408 body_timeout");
    assert(performance.now() - startedAt > BODY_IDLE_MS_MAX - 500, "the answer came too soon");
    await assertEnds(connection, CONNECTION_LINGER_MS_MAX + LATE_MS_MAX);
  }));
}

/** Bodies beyond the limit are answered such that a client which is still writing reads the answer. */
async function sendTooMuch(server: ServerProcess): Promise<void> {
  const large = new Uint8Array(3 * BODY_WIRE_BYTES_MAX).fill(32);
  for (let i = 0; i < 5; i++) {
    const chunked = new Blob([large]).stream();
    for (const body of [large, chunked]) {
      const reply = await fetch(`${server.url}/v1/events`, {
        method: "POST",
        headers: { "X-API-Key": API_KEY },
        body,
      });
      assert.equal(reply.status, 413);
      assert.equal((await reply.json()).code, "body_too_large");
    }
    using declared = await RawConnection.open(server.port);
    await declared.send(postHead({ "Content-Length": large.length }));
    assert.equal(await answers(declared), "413 body_too_large");
    // One that writes everything before it reads anything.
    using naive = await RawConnection.open(server.port);
    await naive.send(postHead({ "Content-Length": large.length }));
    await naive.send(large);
    assert.equal(await answers(naive), "413 body_too_large");
  }
}

/** A connection goes on after an error whose body was read, and pipelined requests are answered in order. */
async function goOnAfterErrors(server: ServerProcess): Promise<void> {
  using connection = await RawConnection.open(server.port);
  const wrong: readonly [string, string][] = [
    [post("{"), "400 invalid_json"],
    [post("[]"), "400 invalid_envelope"],
    [post('{"events":[{}]}'), "400 invalid_events"],
    [post(GOOD).replace(API_KEY, "pk_nobody_has_this"), "401 invalid_api_key"],
    [post(GOOD).replace("X-API-Key", "X-Other"), "401 missing_api_key"],
    ["GET /nowhere HTTP/1.1\r\nHost: footfall.test\r\n\r\n", "404 not_found"],
    [
      "PUT /v1/events HTTP/1.1\r\nHost: footfall.test\r\nContent-Length: 0\r\n\r\n",
      "405 method_not_allowed",
    ],
  ];
  for (const [request, expected] of wrong) {
    await connection.send(request);
    assert.equal(await answers(connection), expected);
    await connection.send(post(GOOD));
    assert.equal(await answers(connection), "200");
  }
  await connection.send(wrong.map(([request]) => request + post(GOOD)).join(""));
  for (const [, expected] of wrong) {
    assert.equal(await answers(connection), expected);
    assert.equal(await answers(connection), "200");
  }
}

onFreshEngines(
  "sockets: hostile and broken clients, and a good one beside them",
  async (_t, db) => {
    await using server = await startServer({ ...db.env, LOG_LEVEL: "debug" });
    const silent = Promise.all([fallSilent(server), neverAsk(server)]);
    silent.catch(() => {});
    await disconnectMidway(server);
    await sendTooMuch(server);
    await goOnAfterErrors(server);
    await silent;

    const load = new Load(() => server.url, { clients: 0, eventsPerBatch: 10 });
    const reply = await postBatch(server.url, load.batch());
    assert.deepEqual(await reply.json(), { accepted: 10, duplicates: 0, rejected: [] });
    assert.doesNotMatch(server.errorOutput, /unexpected failure/);
    const metrics = async () => await (await fetch(`${server.url}/metrics`)).text();
    const noBodyHeld = async () => /^footfall_body_bytes_in_flight 0$/m.test(await metrics());
    await until(LATE_MS_MAX, noBodyHeld, "the bytes of broken bodies are given back");
    assert.equal(await server.stop(), 0);
    const sql = await db.open();
    assert.equal((await storedRows(sql)).length, 10, "of broken requests nothing is stored");
  },
);
