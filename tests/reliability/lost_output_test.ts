import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { serverReady } from "../cli/footfall_process.ts";
import { makeDataDir } from "../support/embedded_template.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

Deno.test("a server whose log and greeting cannot be written starts, works and stops", async () => {
  const dataDir = await makeDataDir("footfall-mute-");
  const server = new Deno.Command("sh", {
    args: [
      ...["-c", 'exec "$0" "$@" >/dev/full 2>/dev/full', Deno.execPath()],
      ...["run", "--quiet", "-P=serve", "main.ts", "serve"],
    ],
    cwd: ROOT,
    env: { DATA_DIR: dataDir, DATABASE_URL: "", HOST: "127.0.0.1", PORT: "0", LOG_LEVEL: "debug" },
    stdin: "null",
  }).spawn();
  try {
    const { url, token } = await serverReady(dataDir);
    // Only a server whose jobs have begun takes pictures, or says why there is none.
    const reply = await fetch(`${url}/v1/internal/jobs/heatmap-captures`, {
      method: "POST",
      headers: {
        "Authorization": `Bearer ${token}`,
        "Content-Type": "application/json",
        "Prefer": "wait=120",
      },
      body: '{"project":"prj_default","path":"/","devices":["mobile"]}',
    });
    const { job } = await reply.json();
    assert.deepEqual([reply.status, job.captures[0].status], [200, "site_url_missing"]);
    server.kill("SIGTERM");
    assert.equal((await server.status).code, 0);
  } finally {
    // Nothing is left to kill where it has ended.
    try {
      server.kill("SIGKILL");
    } catch { /* It has ended. */ }
    await server.status;
    await Deno.remove(dataDir, { recursive: true });
  }
});
