/**
 * Servers on one PostgreSQL: each message once, and after a kill between sending and noting once more with
 * the same id.
 */
import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { TestApp } from "../support/app.ts";
import {
  findPostgresBinaries,
  freshDatabase,
  startPostgres,
  type ThrowawayPostgres,
} from "../support/throwaway_postgres.ts";
import { openDatabase } from "../../src/db/open.ts";
import { startReceiver } from "./receiver.ts";

const isAvailable = findPostgresBinaries() !== null;
const ignore = !isAvailable && Deno.env.get("CI") !== "true";
let cluster: ThrowawayPostgres;
if (!ignore) {
  Deno.test.beforeAll(async () => void (cluster = await startPostgres()));
  Deno.test.afterAll(() => cluster.remove());
}

const RUN_DUE = fileURLToPath(new URL("./run_due_process.ts", import.meta.url));

/** A server in a process of its own that looks once at what is due, and ends. */
function running(env: Record<string, string>): Deno.ChildProcess {
  return new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--quiet", RUN_DUE],
    env,
    stdin: "null",
    stdout: "inherit",
    stderr: "inherit",
  }).spawn();
}

Deno.test({
  name: "two servers: each message once; a kill repeats one, with the same id",
  ignore,
  async fn() {
    const { url, drop } = await freshDatabase(cluster);
    const receiver = startReceiver();
    const env = { DATABASE_URL: url, READ_TIMEOUT_MS: "120000" };
    const app = await new TestApp(env).start();
    const others = [await new TestApp(env).start(), await new TestApp(env).start()];
    const sql = await openDatabase({
      databaseUrl: url,
      dataDir: "",
      statementTimeoutMs: 15_000,
      connectionsMax: 2,
    });
    try {
      const { id } = await app.project();
      const hook = { title: "Chat", url: receiver.url };
      await app.admin("PUT", `/v1/webhooks/chat?project=${id}`, hook);
      // Half a day away: the day for which one is due does not change meanwhile.
      const at = `${String((new Date().getUTCHours() + 12) % 24).padStart(2, "0")}:00`;
      const digest = { title: "Day", every: "daily", at, webhooks: ["chat"] };
      for (let n = 0; n < 12; n++) {
        const reply = await app.admin("PUT", `/v1/digests/d-${n}?project=${id}`, digest);
        assert.equal(reply.status, 201, JSON.stringify(reply.body));
      }
      const due = "UPDATE digests SET due_at = '2020-01-01'";
      await sql.query(due);
      await Promise.all([app, ...others].map((each) => each.app.runDue()));
      await Promise.all([app, ...others].map((each) => each.app.runDue()));
      const ids = () => receiver.received.map(({ headers }) => headers.get("webhook-id"));
      assert.equal(receiver.received.length, 12);
      assert.equal(new Set(ids()).size, 12);
      // Due again, as of the same day: nothing is made twice.
      await sql.query(due);
      await Promise.all([app, ...others].map((each) => each.app.runDue()));
      assert.equal(receiver.received.length, 12);

      receiver.received.length = 0;
      await sql.query("DELETE FROM digests WHERE slug <> 'd-0'");
      await sql.query("DELETE FROM deliveries");
      await sql.query(due);
      const child = running(env);
      receiver.answer = () => {
        child.kill("SIGKILL");
        return new Response(null, { status: 204 });
      };
      assert.equal((await child.status).signal, "SIGKILL");
      receiver.answer = () => new Response(null, { status: 204 });
      assert.equal(receiver.received.length, 1);
      const rows = async () => (await app.admin("GET", `/v1/deliveries?project=${id}`)).body.rows;
      assert.equal((await rows())[0].status, "waiting", "sent, and not noted");
      await Promise.all(others.map((each) => each.app.runDue()));
      assert.equal(receiver.received.length, 1, "another server leaves it alone for a minute");
      await sql.query("UPDATE deliveries SET claimed_until = now()");
      await Promise.all([app, ...others].map((each) => each.app.runDue()));
      assert.equal(receiver.received.length, 2);
      assert.equal(new Set(ids()).size, 1, "the same id");
      assert.equal((await rows())[0].status, "sent");
    } finally {
      await sql.close();
      for (const each of [app, ...others]) await each.stop();
      await receiver.close();
      await drop();
    }
  },
});
