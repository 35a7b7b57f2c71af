import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { openWriteDatabase } from "../../src/db/open.ts";
import { onPostgres } from "../support/databases.ts";

/** Passes on to a server what it is sent, but for a setting, which it does not know by that name. */
function misreading(port: number): Deno.TcpListener {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const misread = () =>
    new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
      transform: (bytes, to) => {
        const text = Buffer.from(bytes).toString("latin1").replace("array_nulls", "array_nullz");
        to.enqueue(Uint8Array.from(Buffer.from(text, "latin1")));
      },
    });
  (async () => {
    for await (const client of listener) {
      const server = await Deno.connect({ hostname: "127.0.0.1", port });
      client.readable.pipeThrough(misread()).pipeTo(server.writable).catch(() => {});
      server.readable.pipeTo(client.writable).catch(() => {});
    }
  })();
  return listener;
}

onPostgres(
  "openWriteDatabase: settings that are refused are told once, and statements go on",
  async (_t, { env }) => {
    const url = new URL(env.DATABASE_URL!);
    using listener = misreading(Number(url.port));
    url.port = String(listener.addr.port);
    const told: string[] = [];
    const sql = await openWriteDatabase(
      { databaseUrl: url.href, databaseReadUrl: null, dataDir: "", readTimeoutMs: 15_000 },
      { warn: (_, { reason }) => void told.push(reason) },
    );
    try {
      const asked = Array.from({ length: 3 }, () => sql.query("SELECT 1 AS a, pg_sleep(0.1)"));
      assert.deepEqual((await Promise.all(asked)).map(([row]) => row!.a), [1, 1, 1]);
      assert.deepEqual(told.map((reason) => /array_nullz/.test(reason)), [true]);
    } finally {
      await sql.close();
    }
  },
);
