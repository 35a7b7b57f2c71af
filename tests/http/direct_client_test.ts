import assert from "node:assert/strict";

const DIRECT = new URL("../../src/http/direct_client.ts", import.meta.url);

/** Asks a server of its own, under a proxy that nobody answers at. */
const PROGRAM = `
  const { directClient, headOf } = await import("${DIRECT}");
  const server = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen() {} }, () => new Response("hello"));
  const url = "http://127.0.0.1:" + server.addr.port + "/stats";
  using client = directClient(url);
  const told = [
    await fetch(url).then((reply) => reply.text(), () => "no answer"),
    await (await fetch(url, { client })).text(),
    (await headOf(url))?.status,
    await headOf("http://127.0.0.1:1/"),
  ];
  await server.shutdown();
  console.log(JSON.stringify(told));
`;

Deno.test("directClient: it connects to the server itself, whatever proxy the environment names", async () => {
  const proxy = "http://127.0.0.1:9";
  const { stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["eval", "--quiet", PROGRAM],
    env: { HTTP_PROXY: proxy, ALL_PROXY: proxy, NO_PROXY: "", NO_COLOR: "1" },
  }).output();
  const decoder = new TextDecoder();
  assert.equal(
    decoder.decode(stdout).trim(),
    '["no answer","hello",200,null]',
    decoder.decode(stderr),
  );
});
