/** The digests of a project whose time zone changes, also while they are saved or made. */
import assert from "node:assert/strict";
import { provisionDefaultProject } from "../../src/auth/default_project.ts";
import { patchProject, requireProject } from "../../src/auth/projects.ts";
import type { Database } from "../../src/db/sql.ts";
import { DigestBody } from "../../src/notifications/digest_definition.ts";
import { nextSlot } from "../../src/notifications/slots.ts";
import { DIGESTS, saveNotification } from "../../src/notifications/notification_store.ts";
import { TestApp } from "../support/app.ts";
import { onBothEngines, onPostgres } from "../support/databases.ts";
import { until } from "../support/server_process.ts";
import { openMigrated } from "./auth_server.ts";

const UNSET = { id: "prj_default", name: null, siteUrl: null, timezone: null, apiKey: null };
const WAIT_MS_MAX = 20_000;
/** Requests at once race for the same rows: one round alone may go well by luck. */
const ROUNDS = 12;

/** Stores a digest that is due at `due`, whatever its times are. */
async function store(sql: Database, slug: string, at: string, due: string): Promise<void> {
  const { projectId } = await requireProject(sql, UNSET.id);
  const definition = DigestBody.parse({ title: slug, every: "daily", at });
  const place = { projectId, slug, isNewOnly: true, address: "http://localhost" };
  const saving = { ...place, definition, dueMs: () => Date.parse(due), nowMs: Date.now() };
  await sql.transaction((tx) => saveNotification(tx, DIGESTS, saving));
}

/** When the project's digest is due, by the clock of a zone. */
async function nextAt(app: TestApp, id: string, timezone: string): Promise<string> {
  const { digests } = (await app.admin("GET", `/v1/digests?project=${id}`)).body;
  return Temporal.Instant.from(digests[0].nextAt).toZonedDateTimeISO(timezone).toPlainTime()
    .toString({ smallestUnit: "minute" });
}

onBothEngines("zones: a start with another DEFAULT_TIMEZONE moves digests", async (_, db) => {
  const sql = await openMigrated(db);
  const start = (timezone: string) =>
    provisionDefaultProject(sql, { ...UNSET, timezone }, Date.now());
  await start("Europe/Berlin");
  await store(sql, "morning", "08:00", "2099-03-29T06:00:00Z");
  // By the clock of Berlin, which leaves 02:30 out on that day, it comes at 03:30.
  await store(sql, "shifted", "02:30", "2099-03-29T01:30:00Z");
  await store(sql, "due", "08:00", "2020-01-01T07:00:00Z");
  await start("Asia/Tokyo");
  const digests = await sql.query<{ slug: string; due_at: Date }>(
    "SELECT slug, due_at FROM digests ORDER BY slug",
  );
  assert.deepEqual(digests.map(({ slug, due_at }) => [slug, due_at.toISOString()]), [
    ["due", "2020-01-01T07:00:00.000Z"],
    ["morning", "2099-03-28T23:00:00.000Z"],
    ["shifted", "2099-03-28T17:30:00.000Z"],
  ]);
});

onPostgres(
  "zones: digests that are saved or made amid a change go by the new one",
  async (_, db) => {
    const sql = await db.open();
    const app = await new TestApp(db.env).start();
    try {
      const { id } = await app.project({ timezone: "UTC" });
      const path = `/v1/digests/day?project=${id}`;
      const digest = { title: "The day", every: "daily", at: "08:15" };
      const somebodyWaits = () =>
        until(WAIT_MS_MAX, async () => {
          const waiting = await sql.query(
            "SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'",
          );
          return waiting.length > 0;
        }, "nobody waits");
      /** Begins `work` when the zone is changed already, and the change is not committed yet. */
      const amidChange = async (timezone: string, work: () => Promise<unknown>) => {
        let working: Promise<unknown> | null = null;
        await sql.transaction(async (tx) => {
          await patchProject(tx, id, { timezone }, true);
          working = work();
          await somebodyWaits();
        });
        await working;
      };

      await amidChange("Asia/Tokyo", () => app.admin("PUT", path, digest));
      assert.equal(
        await nextAt(app, id, "Asia/Tokyo"),
        "08:15",
        "saved by who has read the old zone",
      );

      const { projectId } = await requireProject(sql, id);
      const definition = DigestBody.parse(digest);
      const place = { projectId, slug: "day", isNewOnly: false, address: "http://localhost" };
      const dueMs = (timezone: string) => nextSlot(definition, timezone, Date.now()).atMs;
      const timezone = "America/New_York";
      let changing: Promise<unknown> | null = null;
      await sql.query("DELETE FROM digests");
      await sql.transaction(async (tx) => {
        await saveNotification(tx, DIGESTS, { ...place, definition, dueMs, nowMs: Date.now() });
        changing = app.admin("PATCH", `/v1/projects/${id}`, { timezone });
        await somebodyWaits();
      });
      await changing;
      assert.equal(await nextAt(app, id, timezone), "08:15", "saved, and not yet committed");

      await sql.query("UPDATE digests SET due_at = '2020-01-01'");
      await amidChange("Pacific/Auckland", () => app.app.runDue());
      assert.equal(
        await nextAt(app, id, "Pacific/Auckland"),
        "08:15",
        "made by who has read the old zone",
      );
    } finally {
      await app.stop();
    }
  },
);

onPostgres(
  "zones: of changes at once none ends the other, nor loses what a digest is",
  async (_, db) => {
    const app = await new TestApp(db.env).start();
    try {
      const { id } = await app.project({ timezone: "UTC" });
      const digest = { title: "The day", every: "daily", at: "08:15" };
      await app.admin("PUT", `/v1/digests/day?project=${id}`, digest);
      // Far ahead: the next 08:15 of UTC is over already in the zones east of it for a part of each day.
      const sql = await db.open();
      await sql.query("UPDATE digests SET due_at = due_at + interval '7 days'");
      // Who may set this project alone locks all of the table: no other may get its site.
      const token = await app.token([id], "admin");
      const headers = { "Authorization": `Bearer ${token}`, "Content-Type": "application/json" };
      const patch = async (change: unknown) => {
        const init = { method: "PATCH", headers, body: JSON.stringify(change) };
        return (await app.fetch(`/v1/projects/${id}`, init)).status;
      };
      for (let round = 0; round < ROUNDS; round++) {
        const siteUrl = `https://site-${round}.example`;
        const changes = await Promise.all([
          patch({ timezone: "Asia/Tokyo", siteUrl }),
          app.admin("PATCH", `/v1/projects/${id}`, { timezone: "America/New_York" }),
          patch({ timezone: "Pacific/Auckland" }),
        ]);
        const statuses = changes.map((reply) => typeof reply === "number" ? reply : reply.status);
        assert.deepEqual(statuses, [200, 200, 200]);
        const { timezone } = (await app.admin("GET", `/v1/projects/${id}`)).body;
        assert.equal(await nextAt(app, id, timezone), "08:15");
      }
    } finally {
      await app.stop();
    }
  },
);
