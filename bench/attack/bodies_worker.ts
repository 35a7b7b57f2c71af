/**
 * Hostile clients, in a process of their own: each sends one request after another until the time is
 * over, on a new connection wherever the server has closed the last one.
 *
 * `deno run -A bodies_worker.ts <BodiesOrder as JSON>` prints an BodiesResult as JSON.
 */
import { gzipSync } from "node:zlib";
import { BODY_CONTAINERS_MAX, EVENTS_PER_REQUEST_MAX } from "../../src/limits.ts";

/** `arrays`: millions of them; `costliest`: as much as is taken; `keys`: made up, each another one. */
export type Bodies = "arrays" | "costliest" | "keys";

export interface BodiesOrder {
  readonly port: number;
  readonly bodies: Bodies;
  readonly apiKey: string | null;
  readonly attackers: number;
  readonly seconds: number;
  /** From one request of one attacker to its next, at least. 0: as soon as the reply is there. */
  readonly pauseMs: number;
}

export interface BodiesResult {
  /** Replies by status and code. */
  readonly replies: Readonly<Record<string, number>>;
  readonly wireBytes: number;
}

const INFLATED_BYTES = 10 * 1024 * 1024;
/** Of which each is new to the server once. */
const COSTLIEST_BODIES = 12;
const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** 10 KB that inflate to 10 MiB of empty arrays, with a key that no JSON.parse reads as it is. */
function arraysBody(): Uint8Array {
  const head = String.raw`{"events":1,"\u0061":1,"b":[`;
  return gzipSync(`${head}${"[],".repeat((INFLATED_BYTES - head.length - 10) / 3)}[]]}`, {
    level: 9,
  });
}

/** 500 legal events that hold as many objects and bytes as a body may, new ones each time. */
function costliestBody(): Uint8Array {
  const bytesEach = INFLATED_BYTES / EVENTS_PER_REQUEST_MAX - 300;
  const items = Array(BODY_CONTAINERS_MAX / EVENTS_PER_REQUEST_MAX - 10).fill({ "\n": 1, b: [1] });
  items.length = items.length >> 1;
  const filler = "x".repeat(bytesEach - JSON.stringify(items).length);
  const events = Array.from({ length: EVENTS_PER_REQUEST_MAX }, () => ({
    eventId: crypto.randomUUID(),
    properties: { items, filler },
  }));
  return gzipSync(JSON.stringify({ events }), { level: 1 });
}

function request({ port, apiKey, bodies }: BodiesOrder, body: Uint8Array): Uint8Array {
  const key = bodies === "keys" ? `pk_${crypto.randomUUID()}` : apiKey;
  const head = encoder.encode([
    "POST /v1/events HTTP/1.1",
    `Host: 127.0.0.1:${port}`,
    ...(key === null ? [] : [`X-API-Key: ${key}`]),
    "Content-Encoding: gzip",
    `Content-Length: ${body.length}`,
    "\r\n",
  ].join("\r\n"));
  const whole = new Uint8Array(head.length + body.length);
  whole.set(head);
  whole.set(body, head.length);
  return whole;
}

/** One reply: its status and code, and whether the connection can be used again. Null: it was closed. */
async function readReply(connection: Deno.TcpConn, buffer: Uint8Array<ArrayBuffer>) {
  let text = "";
  for (;;) {
    const count = await connection.read(buffer);
    if (count === null) return null;
    text += decoder.decode(buffer.subarray(0, count));
    const head = text.indexOf("\r\n\r\n");
    if (head < 0) continue;
    if (text.length < head + 4 + Number(/content-length: (\d+)/i.exec(text)?.[1] ?? 0)) continue;
    const code = /"code":"(\w+)"/.exec(text)?.[1] ?? "";
    return { told: `${text.slice(9, 12)} ${code}`.trim(), closes: /connection: close/i.test(text) };
  }
}

async function run(order: BodiesOrder): Promise<BodiesResult> {
  const replies: Record<string, number> = {};
  let wireBytes = 0;
  const prepared = Array.from(
    { length: order.bodies === "costliest" ? COSTLIEST_BODIES : 1 },
    {
      arrays: arraysBody,
      costliest: costliestBody,
      keys: () => gzipSync('{"events":[]}'),
    }[order.bodies],
  );
  console.log("ready");
  const until = performance.now() + order.seconds * 1000;
  let sent = 0;
  const open = new Set<Deno.TcpConn>();
  const end = setTimeout(
    () => open.forEach((connection) => connection.close()),
    order.seconds * 1000,
  );
  await Promise.all(Array.from({ length: order.attackers }, async () => {
    const buffer = new Uint8Array(16 * 1024);
    let connection: Deno.TcpConn | null = null;
    while (performance.now() < until) {
      let told = "no reply";
      const startedAt = performance.now();
      try {
        connection ??= await Deno.connect({ hostname: "127.0.0.1", port: order.port });
        open.add(connection);
        const bytes = request(order, prepared[sent++ % prepared.length]!);
        for (let at = 0; at < bytes.length;) at += await connection.write(bytes.subarray(at));
        wireBytes += bytes.length;
        const reply = await readReply(connection, buffer);
        if (reply !== null) told = reply.told;
        if (reply === null || reply.closes) throw new Error("closed");
      } catch {
        if (connection !== null && open.delete(connection) && performance.now() < until) {
          connection.close();
        }
        connection = null;
      }
      replies[told] = (replies[told] ?? 0) + 1;
      const restMs = startedAt + order.pauseMs - performance.now();
      if (restMs > 0) await new Promise((resolve) => setTimeout(resolve, restMs));
    }
  }));
  clearTimeout(end);
  return { replies, wireBytes };
}

if (import.meta.main) {
  console.log(JSON.stringify(await run(JSON.parse(Deno.args[0] ?? "{}"))));
}
