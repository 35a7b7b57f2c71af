import assert from "node:assert/strict";
import { hasEarlierEvents } from "../../src/ingest/event_insert.ts";
import { hasEarlier } from "../../src/upgrade/earlier_projects.ts";
import { onBareEngines, type TestDatabase } from "../support/databases.ts";
import { newRow } from "../support/event_rows.ts";
import { operatorToken, pause, ServerProcess } from "../support/server_process.ts";
import {
  assertSame,
  earlierRow,
  migrateEarlier,
  segmentRows,
  storeEarlier,
} from "./earlier_store.ts";

const KEY = "pk_of_an_upgrade";
const EVENTS = 12_000;
const STORED_AT_ONCE = 3_000;
/** The server is killed as soon as no more than these shares of the events are pending. */
const KILL_SHARES = [1, 0.9, 0.6, 0.3, 0];
const LOOK_MS = 60;
const UPGRADED_MS_MAX = 20_000;

/** An earlier database with a key for its first project. */
async function makeEarlier(db: TestDatabase): Promise<ReturnType<typeof earlierRow>[]> {
  const database = await db.open();
  await migrateEarlier(database);
  const rows = Array.from({ length: EVENTS }, (_, i) => earlierRow(i));
  for (let from = 0; from < EVENTS; from += STORED_AT_ONCE) {
    await storeEarlier(database, rows.slice(from, from + STORED_AT_ONCE));
  }
  await database.query(
    `INSERT INTO api_keys (key_id, project_id, kind, key_hash, hint)
    VALUES ('key_upgrade', 1, 'public', sha256(convert_to($1::text, 'UTF8')), 'rade')`,
    [KEY],
  );
  await database.close();
  return rows;
}

/** Events that are stored and not counted. */
async function pending(url: string, token: string): Promise<number> {
  const reply = await fetch(`${url}/v1/kpis?project=prj_one&from=2026-01-05&to=2026-01-06`, {
    headers: { authorization: `Bearer ${token}` },
  });
  const body = await reply.json();
  assert.equal(reply.status, 200, JSON.stringify(body));
  return body.pending;
}

async function send(url: string, eventIds: readonly string[]): Promise<number> {
  const reply = await fetch(`${url}/v1/events`, {
    method: "POST",
    headers: { "x-api-key": KEY, "user-agent": "Mozilla/5.0 Chrome/140" },
    body: JSON.stringify({ events: eventIds.map((eventId) => ({ eventId, name: "sent" })) }),
  });
  assert.equal(reply.status, 200);
  return (await reply.json()).duplicates;
}

/** Whether the next server has something to tell of: one that was killed may have ended the upgrade. */
async function isUnderWay(db: TestDatabase): Promise<boolean> {
  const database = await db.open();
  const isLeft = await hasEarlier(database, 1);
  await database.close();
  return isLeft;
}

onBareEngines(
  "upgrade: a server that is killed again and again loses nothing, and takes nothing twice",
  async (t, db) => {
    const rows = await makeEarlier(db);
    const token = await operatorToken();
    const fresh: string[] = [];
    const sendSome = async (url: string, turn: number) => {
      const added = [newRow().event_id, newRow().event_id];
      const old = rows.filter((_, i) => i % 997 === turn).map(({ event_id }) => event_id);
      assert.equal(await send(url, [...added, ...old]), old.length, "replays are duplicates");
      fresh.push(...added);
    };
    for (const [turn, share] of KILL_SHARES.entries()) {
      await t.step(`killed at ${share} of the events`, async () => {
        await using server = new ServerProcess(db.env);
        await server.ready();
        await sendSome(server.url, turn);
        while (await pending(server.url, token) > share * EVENTS) await pause(LOOK_MS);
        await sendSome(server.url, turn);
        await server.kill();
      });
    }
    await t.step("all is there once, as it was", async () => {
      for (let isDone = false; !isDone;) {
        const isToldOf = await isUnderWay(db);
        await using server = new ServerProcess(db.env);
        await server.ready();
        while (await pending(server.url, token) > 0) await pause(LOOK_MS);
        await sendSome(server.url, KILL_SHARES.length);
        if (isToldOf) await server.logged("upgraded", UPGRADED_MS_MAX).catch(() => {});
        await server.stop();
        assert.doesNotMatch(server.errorOutput, /statement timeout/, "each step ends in time");
        const database = await db.open();
        isDone = !await hasEarlierEvents(database);
        if (isDone) {
          const found = await segmentRows(database, 1);
          // What was sent last may still wait in the journal: it is there by its id.
          for (const id of fresh) found.delete(id);
          assertSame(found, rows);
          const ids = await database.query<{ event_id: string }>(
            "SELECT event_id FROM event_ids WHERE project_id = 1",
          );
          assert.deepEqual(
            ids.map(({ event_id }) => event_id).sort(),
            [...rows.map(({ event_id }) => event_id), ...fresh].sort(),
          );
        }
        await database.close();
      }
    });
  },
);
