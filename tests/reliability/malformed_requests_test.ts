import assert from "node:assert/strict";
import { makeDataDir } from "../support/embedded_template.ts";
import { API_KEY, type ServerProcess, startServer } from "../support/server_process.ts";
import { post, RawConnection } from "./raw_connection.ts";

const END = "Connection: close\r\n\r\n";
const get = (target: string, ...headers: string[]) =>
  [`GET ${target} HTTP/1.1`, ...headers, END].join("\r\n");

/** `status code path-independent text`, in short: what a client learns of one request. */
async function answer(server: ServerProcess, request: string): Promise<string> {
  using connection = await RawConnection.open(server.port);
  await connection.send(request);
  const { status, code, headers } = await connection.reply();
  if (code !== null) assert.ok(headers.get("x-request-id"), request);
  return code === null ? String(status) : `${status} ${code}`;
}

/** Only lines of the log: JSON objects with a time, a level and a message. */
function assertOnlyLog(server: ServerProcess): void {
  for (const line of server.errorOutput.split("\n").filter((text) => text !== "")) {
    const { time, level, message } = JSON.parse(line);
    assert.ok(time && message && ["debug", "info", "warn"].includes(level), line);
  }
}

const HOSTS_REFUSED = ["[", "a/metrics?", "a/metrics#", "a b", "a@b", "a:99999", "a\\b", "\xe4"];

const ANSWERS: readonly [string, string | RegExp][] = [
  [get("/public", "Host: a"), "404 not_found"],
  [get("/healthz", "Host: [::1]:8000"), "200"],
  [get("/healthz", "Host: "), "200"],
  [get("/a/../healthz", "Host: a"), "200"],
  [get("http://other.example/healthz", "Host: a"), "200"],
  [get("http://other.example:99999/healthz", "Host: a"), "400 invalid_host"],
  [get("//other.example/healthz", "Host: a"), "404 not_found"],
  [get("/%zz", "Host: a"), "404 not_found"],
  [get("/v1/goals/%zz", "Host: a"), /^40\d /],
  ["GET /healthz HTTP/1.0\r\n\r\n", "200"],
  // Below the application, the listener answers by itself, or closes the connection.
  [get("/healthz", "Host: a", "Host: b"), /^400/],
  [get("healthz", "Host: a"), /^40\d/],
  ["OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n", /^(?:20|40)\d/],
  ["CONNECT a:80 HTTP/1.1\r\nHost: a:80\r\n\r\n", /^40\d/],
  ["TRACE /healthz HTTP/1.1\r\nHost: a\r\n\r\n", /^40\d/],
  ["garbage\r\n\r\n", /^400/],
  ["\x16\x03\x01\x02\r\n\r\n", /^400/],
  [post("{}").replace(/Content-Length: \d+/, "Content-Length: x"), /^400/],
  [get("/healthz", "Host: a", "no colon"), /^400/],
];

Deno.test("malformed requests: the path is the target's, and standard error holds the log alone", async () => {
  const folder = await makeDataDir("footfall-data-");
  try {
    await using server = await startServer({ DATA_DIR: folder, LOG_LEVEL: "debug" });
    for (const host of HOSTS_REFUSED) {
      for (const target of ["/public", "/healthz", "/v1/events"]) {
        const told = await answer(server, get(target, `Host: ${host}`));
        assert.equal(told, "400 invalid_host", host);
      }
    }
    for (const [request, expected] of ANSWERS) {
      const told = await answer(server, request).catch(() => "400, by closing");
      if (typeof expected === "string") assert.equal(told, expected, request);
      else assert.match(told, expected, request);
    }
    // A reply that nobody reads to its end, and a request that breaks off in its head.
    for (
      const broken of [get("/sdk.js", "Host: a"), `GET /healthz HTTP/1.1\r\nX-API-Key: ${API_KEY}`]
    ) {
      using connection = await RawConnection.open(server.port);
      await connection.send(broken);
    }
    assert.equal(await answer(server, get("/healthz", "Host: a")), "200");
    assert.equal(await server.stop(), 0);
    assertOnlyLog(server);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
