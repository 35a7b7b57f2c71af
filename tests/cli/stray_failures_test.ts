import assert from "node:assert/strict";

const LOG = new URL("../../src/http/log.ts", import.meta.url);
const GONE = new URL("../../src/http/client_gone.ts", import.meta.url);
const STRAY = new URL("../../src/cli/stray_failures.ts", import.meta.url);

/** A program that fails in every uncaught way, and goes on. */
const PROGRAM = `
  const { ClientGone } = await import("${GONE}");
  const { createLog } = await import("${LOG}");
  const { failedReply, logStrayFailures } = await import("${STRAY}");
  const log = createLog({
    level: "info", format: "json", colour: false, now: Date.now, write: (line) => console.error(line),
  });
  logStrayFailures(log);
  Promise.reject(new Error("nobody waits"));
  setTimeout(() => { throw new Error("nobody catches"); });
  const server = Deno.serve({
    port: 0, hostname: "127.0.0.1", onListen() {}, onError: (error) => failedReply(error, log),
  }, (request) => {
    if (request.url.endsWith("/thrown")) throw new Error("a handler threw");
    if (request.url.endsWith("/gone")) throw new ClientGone("a client went");
    let pulls = 0;
    return new Response(new ReadableStream({
      pull(controller) {
        if (pulls++ > 2) throw new Error("a stream broke");
        controller.enqueue(new Uint8Array(9));
      },
    }));
  });
  const at = "http://127.0.0.1:" + server.addr.port;
  const reply = await fetch(at + "/thrown");
  const { code, requestId } = await reply.json();
  console.log(reply.status, code, reply.headers.get("x-content-type-options"));
  console.log(requestId === reply.headers.get("x-request-id"));
  await fetch(at + "/gone").then((reply) => reply.text());
  await fetch(at + "/stream").then((reply) => reply.text()).catch(() => {});
  await server.shutdown();
  console.log("goes on");
`;

Deno.test("stray failures: each is one line of the log, and the process keeps running", async () => {
  const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["eval", "--quiet", PROGRAM],
    env: { NO_COLOR: "1" },
  }).output();
  const lines = new TextDecoder().decode(stderr).trim().split("\n").map((line) => JSON.parse(line));
  assert.equal(new TextDecoder().decode(stdout), "500 internal_error nosniff\ntrue\ngoes on\n");
  assert.equal(code, 0);
  const reasons = lines.map(({ level, reason }) => `${level} ${reason.split("\n")[0]}`).sort();
  assert.deepEqual(reasons, [
    "error Error: a handler threw",
    "error Error: a stream broke",
    "error Error: nobody catches",
    "error Error: nobody waits",
  ]);
});
