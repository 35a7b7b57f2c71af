import { gzipSync } from "node:zlib";
import { API_KEY, pause } from "../../tests/support/server_process.ts";
import type { Attack, Field } from "./ground.ts";

const ATTACKERS = 50;
const INFLATED_BYTES = 10 * 2 ** 20 - 64;

/** 10 KB that inflate to 10 MiB of empty arrays, behind a key that is spelt with an escape. */
function expensiveBody(): Uint8Array<ArrayBuffer> {
  const head = '{"events":1,"\\u0061":1,"b":[[]';
  const text = head + ",[]".repeat(Math.floor((INFLATED_BYTES - head.length) / 3)) + "]}";
  return new Uint8Array(gzipSync(text));
}

async function sendBodies({ url, short }: Field, headers: Record<string, string>) {
  const body = expensiveBody();
  const until = performance.now() + (short ? 5_000 : 30_000);
  const statuses = new Map<string, number>();
  await Promise.all(Array.from({ length: ATTACKERS }, async () => {
    while (performance.now() < until) {
      const status = await fetch(`${url}/v1/events`, {
        method: "POST",
        headers: { "Content-Encoding": "gzip", ...headers },
        body,
        signal: AbortSignal.timeout(20_000),
      }).then(async (reply) => {
        await reply.body?.cancel();
        return String(reply.status);
      }, () => "no reply");
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
      // An attacker's machine is not the server's: here it leaves the processor to it.
      await pause(20);
    }
  }));
  return [...statuses].map(([status, count]) => `${count} × ${status}`).join(", ");
}

/** 50 clients without a key. */
export const BODIES_WITHOUT_KEY: Attack = {
  name: "bodies_without_key",
  engines: ["postgres", "embedded"],
  run: (field) => sendBodies(field, {}),
};

/** 50 clients with the public key of the site, which everybody can read. */
export const BODIES_WITH_KEY: Attack = {
  name: "bodies_with_key",
  engines: ["postgres", "embedded"],
  run: (field) => sendBodies(field, { "X-API-Key": API_KEY }),
};
