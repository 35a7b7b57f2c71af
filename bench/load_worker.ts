/**
 * The load, in a process of its own: requests are built once and patched in place, and sockets are
 * used directly, so that a batch of ten costs the generator a small part of what it costs the server.
 *
 * `deno run -A load_worker.ts <LoadOrder as JSON>` prints a LoadResult as JSON.
 */
import { processCpuSeconds } from "./process_figures.ts";
import {
  ADDRESS_PLACE,
  ANONYMOUS_ID_PLACE,
  EVENT_ID_PLACE,
  seededRandom,
  TIME_PLACE,
  typicalBatches,
  USER_AGENTS,
  USER_ID_PLACE,
  userAgent,
  visitorAddress,
  visitorAnonymousId,
  VISITORS,
  visitorUserId,
  writeEventId,
} from "./typical_events.ts";

export interface LoadOrder {
  readonly port: number;
  readonly apiKey: string;
  readonly connections: number;
  readonly batchEvents: number;
  /** How many, or for how long. */
  readonly requests?: number;
  readonly seconds?: number;
  /** Random ids (version 4) instead of those that begin with the time. */
  readonly randomIds?: boolean;
  /** A steady pace, whatever the replies take. Absent: as fast as the replies come. */
  readonly eventsPerSecond?: number;
}

export interface LoadResult {
  readonly accepted: number;
  readonly seconds: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly cpuSeconds: number;
}

/** A request's bytes and where its placeholders stand. */
interface PreparedRequest {
  readonly bytes: Uint8Array;
  readonly addressAt: number;
  readonly anonymousIdsAt: readonly number[];
  readonly userIdsAt: readonly number[];
  readonly eventIdsAt: readonly number[];
  readonly timesAt: readonly number[];
}

/** For each user agent; a visitor has one user agent and sends any of its requests. */
const REQUESTS_PER_USER_AGENT = 20;
/** A visit is 20 events: two batches of ten, one after the other. */
const BATCHES_PER_VISIT = 2;
const encoder = new TextEncoder();
const decoder = new TextDecoder();

function placesOf(text: string, place: string): number[] {
  const places: number[] = [];
  for (let at = text.indexOf(place); at >= 0; at = text.indexOf(place, at + 1)) places.push(at);
  return places;
}

function prepareRequests(order: LoadOrder): PreparedRequest[] {
  const count = USER_AGENTS * REQUESTS_PER_USER_AGENT;
  const batches = typicalBatches(count, order.batchEvents, seededRandom(1));
  return batches.map((batch, i) => {
    const body = JSON.stringify({ events: batch.map(({ event }) => event), sentAt: TIME_PLACE });
    const text = [
      "POST /v1/events HTTP/1.1",
      `Host: 127.0.0.1:${order.port}`,
      `X-API-Key: ${order.apiKey}`,
      `X-Forwarded-For: ${ADDRESS_PLACE}`,
      `User-Agent: ${userAgent(i % USER_AGENTS)}`,
      "Origin: https://shop.example",
      "Content-Type: application/json",
      `Content-Length: ${body.length}`,
      "",
      body,
    ].join("\r\n");
    return {
      bytes: encoder.encode(text),
      addressAt: text.indexOf(ADDRESS_PLACE),
      anonymousIdsAt: placesOf(text, ANONYMOUS_ID_PLACE),
      userIdsAt: placesOf(text, USER_ID_PLACE),
      eventIdsAt: placesOf(text, EVENT_ID_PLACE),
      timesAt: placesOf(text, TIME_PLACE),
    };
  });
}

function patch(request: PreparedRequest, visitor: number, randomIds: boolean): void {
  const { bytes } = request;
  const nowMs = Date.now();
  const time = encoder.encode(new Date(nowMs).toISOString());
  const anonymousId = encoder.encode(visitorAnonymousId(visitor));
  bytes.set(encoder.encode(visitorAddress(visitor)), request.addressAt);
  const userId = encoder.encode(visitorUserId(visitor));
  for (const at of request.anonymousIdsAt) bytes.set(anonymousId, at);
  for (const at of request.userIdsAt) bytes.set(userId, at);
  for (const at of request.timesAt) bytes.set(time, at);
  for (const at of request.eventIdsAt) {
    if (randomIds) bytes.set(encoder.encode(crypto.randomUUID()), at);
    else writeEventId(bytes, at, nowMs);
  }
}

/**
 * Waits until a paced request is due. @returns since when its latency counts: a request that comes
 * late because all connections wait for replies has waited too.
 */
async function untilDue(dueAt: number): Promise<number> {
  const ms = dueAt - performance.now();
  if (ms <= 0) return dueAt;
  await new Promise((resolve) => setTimeout(resolve, ms));
  return performance.now();
}

async function writeAll(connection: Deno.TcpConn, bytes: Uint8Array): Promise<void> {
  for (let at = 0; at < bytes.length;) at += await connection.write(bytes.subarray(at));
}

/** Reads one reply, whose end its Content-Length tells. */
async function readReply(connection: Deno.TcpConn, buffer: Uint8Array): Promise<string> {
  let reply = "";
  for (;;) {
    const count = await connection.read(buffer);
    if (count === null) throw new Error(`the server closed the connection after "${reply}"`);
    reply += decoder.decode(buffer.subarray(0, count));
    const head = reply.indexOf("\r\n\r\n");
    if (head < 0) continue;
    const length = Number(/content-length: (\d+)/i.exec(reply)?.[1]);
    if (reply.length >= head + 4 + length) return reply;
  }
}

async function run(order: LoadOrder): Promise<LoadResult> {
  const requests = prepareRequests(order);
  const connections = await Promise.all(
    Array.from(
      { length: order.connections },
      () => Deno.connect({ hostname: "127.0.0.1", port: order.port }),
    ),
  );
  for (const connection of connections) connection.setNoDelay(true);
  const expected = `"accepted":${order.batchEvents},"duplicates":0,"rejected":[]`;
  const latencies: number[] = [];
  const cpuAtStart = processCpuSeconds("self");
  const msPerRequest = order.eventsPerSecond === undefined
    ? null
    : 1000 * order.batchEvents / order.eventsPerSecond;
  const startedAt = performance.now();
  const requestsMax = order.requests ?? Infinity;
  const endsAt = startedAt + 1000 * (order.seconds ?? Infinity);
  let sent = 0;
  await Promise.all(connections.map(async (connection) => {
    const buffer = new Uint8Array(16 * 1024);
    let visitor = 0;
    let batchesLeft = 0;
    while (sent < requestsMax && performance.now() < endsAt) {
      const index = sent++;
      const dueAt = msPerRequest === null ? null : await untilDue(startedAt + index * msPerRequest);
      if (batchesLeft-- === 0) {
        visitor = Math.floor(Math.random() * VISITORS);
        batchesLeft = BATCHES_PER_VISIT - 1;
      }
      const kept = Math.floor(Math.random() * REQUESTS_PER_USER_AGENT);
      const request = requests[visitor % USER_AGENTS + USER_AGENTS * kept]!;
      patch(request, visitor, order.randomIds ?? false);
      // A copy, since another connection may patch the same request while this one is written.
      const bytes = request.bytes.slice();
      const sentAt = dueAt ?? performance.now();
      await writeAll(connection, bytes);
      const reply = await readReply(connection, buffer);
      latencies.push(performance.now() - sentAt);
      if (!reply.startsWith("HTTP/1.1 200 ") || !reply.includes(expected)) throw new Error(reply);
    }
    connection.close();
  }));
  const seconds = (performance.now() - startedAt) / 1000;
  latencies.sort((a, b) => a - b);
  const percentile = (share: number) => latencies[Math.floor(share * (latencies.length - 1))]!;
  return {
    accepted: latencies.length * order.batchEvents,
    seconds,
    p50Ms: percentile(0.5),
    p99Ms: percentile(0.99),
    cpuSeconds: processCpuSeconds("self") - cpuAtStart,
  };
}

if (import.meta.main) {
  console.log(JSON.stringify(await run(JSON.parse(Deno.args[0] ?? "{}"))));
}
