import assert from "node:assert/strict";
import { headOfLong } from "../../src/http/long_reply.ts";

Deno.test("long reply: the reply to a HEAD has no length, as that to the GET has none", async () => {
  const init = { headers: { "Content-Type": "application/x-ndjson" } };
  const server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen: () => {} },
    () => headOfLong(init),
  );
  try {
    const { headers, status } = await fetch(`http://127.0.0.1:${server.addr.port}`, {
      method: "HEAD",
    });
    assert.equal(status, 200);
    assert.equal(headers.get("content-type"), "application/x-ndjson");
    assert.equal(headers.get("content-length"), null);
  } finally {
    await server.shutdown();
  }
});
