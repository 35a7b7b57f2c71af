/** A server as people run it: its own job tells what is due, by its own clock. */
import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { makeDataDir } from "../support/embedded_template.ts";
import { operatorToken, ServerProcess, until } from "../support/server_process.ts";
import { isSigned, startReceiver } from "./receiver.ts";

const MOVED_CLOCK = fileURLToPath(new URL("../support/moved_clock.ts", import.meta.url));
/** The job runs every minute; a slow machine may need some of them. */
const TOLD_MS_MAX = 300_000;

Deno.test("a real server: a digest comes on its day, once, and not before", async () => {
  const receiver = startReceiver();
  const dataDir = await makeDataDir("footfall-told-");
  const env = { DATA_DIR: dataDir, READ_TIMEOUT_MS: "120000" };
  try {
    await using server = new ServerProcess(env, { preload: MOVED_CLOCK });
    await server.ready();
    const token = await operatorToken();
    const put = async (path: string, body: unknown) => {
      const reply = await fetch(`${server.url}/v1/${path}?project=prj_default`, {
        method: "PUT",
        headers: { Authorization: `Bearer ${token}`, "Content-Type": "application/json" },
        body: JSON.stringify(body),
      });
      const saved = await reply.json();
      assert.equal(reply.status, 201, JSON.stringify(saved));
      return saved;
    };
    const hook = await put("webhooks/chat", { title: "Chat", url: receiver.url });
    const daily = { title: "The day", every: "daily", webhooks: ["chat"] };
    const { nextAt } = await put("digests/day", daily);
    assert.ok(Date.parse(nextAt) > Date.now());
    assert.equal(receiver.received.length, 0);
    Deno.kill(server.pid, "SIGUSR1");
    const came = () => Promise.resolve(receiver.received.length > 0);
    await until(TOLD_MS_MAX, came, "a digest comes");
    const [got] = receiver.received;
    assert.ok(await isSigned(got!, hook.secret));
    const { type, data } = JSON.parse(got!.body);
    assert.deepEqual([type, data.slug, data.isTest], ["digest.made", "day", false]);
    await server.stop();
    assert.equal(receiver.received.length, 1);
  } finally {
    await receiver.close();
    await Deno.remove(dataDir, { recursive: true });
  }
});
