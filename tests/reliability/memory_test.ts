import assert from "node:assert/strict";
import { gzipSync } from "node:zlib";
import { BODIES_IN_FLIGHT_BYTES_MAX, BODY_WIRE_BYTES_MAX } from "../../src/limits.ts";
import { makeDataDir } from "../support/embedded_template.ts";
import { Load, postBatch } from "../support/load.ts";
import { API_KEY, type ServerProcess, startServer } from "../support/server_process.ts";
import { Http2Connection } from "./http2_connection.ts";
import { post, postHead, RawConnection } from "./raw_connection.ts";

const MEBIBYTE = 1024 * 1024;
const BOMBS = 8;
const KEYS = 10_000;
const UNTAKEN_CONNECTIONS = 2;
const UNTAKEN_REPLIES = 190;
/**
 * Growth of the resident memory. Measured: 20, 120, 270 and 60 MiB. A copy of the file for each untaken
 * reply takes 270 MiB, unbounded inflation 2 GiB.
 */
const UNTAKEN_BYTES_MAX = 100 * MEBIBYTE;
const BOMBS_BYTES_MAX = 400 * MEBIBYTE;
const BODIES_BYTES_MAX = 600 * MEBIBYTE;
const KEYS_BYTES_MAX = 200 * MEBIBYTE;
/** Of the server's processor time. Measured: 0.14 ms; on a slow machine several times as much. */
const KEY_MS_MAX = 10;
const TICK_MS = 10;

/** The processor time that a process has taken, in milliseconds. */
function processorMs(pid: number): number {
  const [, behindName = ""] = Deno.readTextFileSync(`/proc/${pid}/stat`).split(") ");
  const [user, system] = behindName.split(" ").slice(11, 13).map(Number);
  return TICK_MS * (user! + system!);
}

/** Runs `work` and watches the server's resident memory meanwhile. @returns its growth in bytes */
async function growthDuring(server: ServerProcess, work: () => Promise<void>): Promise<number> {
  const before = server.residentBytes;
  let most = before;
  const watch = setInterval(() => most = Math.max(most, server.residentBytes), 20);
  try {
    await work();
  } finally {
    clearInterval(watch);
  }
  return Math.max(most, server.residentBytes) - before;
}

/** 256 KiB on the wire, and a thousand times that when inflated. */
function bomb(): Uint8Array<ArrayBuffer> {
  return new Uint8Array(gzipSync(new Uint8Array(256 * MEBIBYTE), { level: 9 }));
}

async function throwBombs(server: ServerProcess): Promise<void> {
  const body = bomb();
  assert(body.length < BODY_WIRE_BYTES_MAX);
  await Promise.all(Array.from({ length: BOMBS }, async () => {
    const reply = await fetch(`${server.url}/v1/events`, {
      method: "POST",
      headers: { "X-API-Key": API_KEY, "Content-Encoding": "gzip" },
      body,
    });
    assert.equal(reply.status, 413);
    assert.equal((await reply.json()).code, "body_too_large");
  }));
}

/** More half-sent bodies than may be held at once; each goes on as soon as all have sent their part. */
async function holdManyBodies(server: ServerProcess): Promise<Map<string, number>> {
  const count = Math.ceil(1.5 * BODIES_IN_FLIGHT_BYTES_MAX / BODY_WIRE_BYTES_MAX);
  const body = new Uint8Array(BODY_WIRE_BYTES_MAX).fill(32);
  body.set(new TextEncoder().encode('{"events":[]}'));
  using stack = new DisposableStack();
  const connections = await Promise.all(Array.from({ length: count }, async () => {
    const connection = stack.use(await RawConnection.open(server.port));
    await connection.send(postHead({ "Content-Length": body.length }));
    return connection;
  }));
  await Promise.all(connections.map((each) => each.send(body.subarray(0, -1))));
  // No body is whole: whoever is answered is refused, and then the rest are held.
  const replies = connections.map((each) => each.reply(20_000));
  await Promise.race(replies);
  const outcomes = new Map<string, number>();
  await Promise.all(connections.map(async (each, i) => {
    await each.send(body.subarray(-1));
    const { status, code, headers } = await replies[i]!;
    if (status === 503) assert.match(headers.get("retry-after") ?? "", /^[1-9]\d*$/);
    const outcome = code ?? String(status);
    outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
  }));
  return outcomes;
}

/** @returns how many milliseconds the server took for one of them */
async function floodWithKeys(server: ServerProcess, count: number): Promise<number> {
  const before = processorMs(server.pid);
  await Promise.all(Array.from({ length: 16 }, async (_, flooder) => {
    using connection = await RawConnection.open(server.port);
    const batch = 25;
    for (let sent = 0; sent < count / 16; sent += batch) {
      const requests = Array.from(
        { length: batch },
        (_, i) => post('{"events":[]}').replace(API_KEY, `pk_made_up_${flooder}_${sent + i}`),
      );
      await connection.send(requests.join(""));
      for (let i = 0; i < batch; i++) {
        assert.equal((await connection.reply()).code, "invalid_api_key");
      }
    }
  }));
  return (processorMs(server.pid) - before) / count;
}

/** Asks for the largest file without credentials again and again, and takes none of it. */
async function leaveRepliesUntaken({ port }: ServerProcess): Promise<void> {
  using stack = new DisposableStack();
  for (let i = 0; i < UNTAKEN_CONNECTIONS; i++) {
    const connection = stack.use(new Http2Connection(port));
    const statuses = await Promise.all(
      Array.from({ length: UNTAKEN_REPLIES }, () => connection.get("/v1/openapi.json")),
    );
    assert.deepEqual([...new Set(statuses)], [200]);
  }
}

Deno.test({
  name: "memory: bombs, many bodies, made-up keys and untaken replies cost a bounded amount",
  ignore: Deno.build.os !== "linux",
  fn: async () => {
    const folder = await makeDataDir("footfall-data-");
    try {
      await using server = await startServer({ DATA_DIR: folder });
      const load = new Load(() => server.url, { clients: 0, eventsPerBatch: 10 });
      assert.equal((await load.attempt(server.url, load.batch()))?.accepted, 10);

      // Done first, as later ones leave memory that is used again.
      const untaken = await growthDuring(server, () => leaveRepliesUntaken(server));
      assert(untaken < UNTAKEN_BYTES_MAX, `Untaken replies took ${untaken} bytes`);

      const bombs = await growthDuring(server, () => throwBombs(server));
      assert(bombs < BOMBS_BYTES_MAX, `${BOMBS} bombs took ${bombs} bytes`);

      const bodies = await growthDuring(server, async () => {
        const outcomes = await holdManyBodies(server);
        assert.deepEqual([...outcomes.keys()].sort(), ["200", "overloaded"]);
      });
      assert(bodies < BODIES_BYTES_MAX, `Half-sent bodies took ${bodies} bytes`);

      const keys = await growthDuring(server, async () => {
        const ms = await floodWithKeys(server, KEYS);
        assert(ms < KEY_MS_MAX, `A made-up key took ${ms} ms`);
      });
      assert(keys < KEYS_BYTES_MAX, `${KEYS} made-up keys took ${keys} bytes`);

      const reply = await postBatch(server.url, load.batch());
      assert.deepEqual(await reply.json(), { accepted: 10, duplicates: 0, rejected: [] });
      assert.equal(await server.stop(), 0);
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
  },
});
