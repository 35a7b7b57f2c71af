import assert from "node:assert/strict";
import { UMAMI } from "../../src/importers/umami/source.ts";
import { converted, mapContext } from "../../src/importers/conversion.ts";
import { UmamiDatabase } from "../../src/importers/umami/database.ts";
import {
  findPostgresBinaries,
  freshDatabase,
  startPostgres,
  type ThrowawayPostgres,
} from "../support/throwaway_postgres.ts";
import { eventsOf, PROJECT } from "./rows.ts";
import { BLOG, fillUmami, inUmami, SHOP } from "./umami_database.ts";
import { id } from "./umami_export.ts";

const ignore = findPostgresBinaries() === null && Deno.env.get("CI") !== "true";

let cluster: ThrowawayPostgres;
Deno.test.beforeAll(async () => {
  if (!ignore) cluster = await startPostgres();
});
Deno.test.afterAll(async () => {
  if (!ignore) await cluster.remove();
});

async function inDatabase(work: (url: string) => Promise<void>): Promise<void> {
  const { url, drop } = await freshDatabase(cluster);
  try {
    await work(url);
  } finally {
    await drop();
  }
}

async function eventsIn(url: string, website: string) {
  const database = await UmamiDatabase.open(url);
  try {
    const context = mapContext(UMAMI, PROJECT, null);
    const found = [];
    for await (
      const batch of converted({ source: UMAMI, rows: database.rows(website), context })
    ) found.push(...batch);
    return eventsOf(found);
  } finally {
    await database.close();
  }
}

Deno.test({
  name: "Umami's database: events with their sessions and properties, of one website",
  ignore,
  fn: () =>
    inDatabase(async (url) => {
      const filled = await fillUmami(url, "2026-05-01");
      const events = await eventsIn(url, SHOP);
      assert.equal(events.length, filled.pageviews + filled.signups);
      assert.deepEqual(events[0], {
        eventId: id(10_000),
        name: "page_view",
        timestamp: "2026-05-01T08:00:00+00:00",
        clock: "client",
        anonymousId: id(1_000),
        userId: "ada",
        sessionId: id(2_000),
        url: "https://shop.example/page-0?utm_source=news&utm_medium=email",
        referrer: null,
        title: "Page 0",
        properties: {},
        context: { screen: { width: 1440, height: 900 }, locale: "de-DE" },
        campaign: { source: "news", medium: "email" },
        server: {
          geo: { country: "DE", region: "DE-BE", city: "Berlin" },
          browser: "Chrome",
          os: "Windows",
          device: "desktop",
          bot: null,
        },
      });
      const signup = events.find(({ name }) => name === "signup");
      assert.deepEqual(signup?.properties, { plan: "pro", seats: 3 });
      assert.deepEqual(await eventsIn(url, BLOG), []);
      const database = await UmamiDatabase.open(url);
      assert.deepEqual((await database.websites()).map(({ domain }) => domain), [
        "shop.example",
        "blog.example",
      ]);
      await database.close();
    }),
});

Deno.test({
  name: "Umami's database: columns of earlier versions are read alike",
  ignore,
  fn: () =>
    inDatabase(async (url) => {
      await fillUmami(url, "2026-05-01");
      const [now] = await eventsIn(url, SHOP);
      await inUmami(
        url,
        "ALTER TABLE session ADD COLUMN hostname varchar(100), DROP COLUMN distinct_id",
        "UPDATE session SET hostname = 'shop.example'",
        "ALTER TABLE session RENAME COLUMN region TO subdivision1",
        "ALTER TABLE website_event DROP COLUMN hostname, DROP COLUMN utm_source, DROP COLUMN utm_medium",
        "ALTER TABLE event_data RENAME COLUMN data_key TO event_key",
      );
      const events = await eventsIn(url, SHOP);
      assert.deepEqual(events[0], { ...now, userId: null, campaign: null });
      assert.deepEqual(events.find(({ name }) => name === "signup")?.properties, {
        plan: "pro",
        seats: 3,
      });
    }),
});

Deno.test({
  name: "Umami's database: one that is none, or that is away, is told without its password",
  ignore,
  fn: () =>
    inDatabase(async (url) => {
      const database = await UmamiDatabase.open(url);
      await assert.rejects(
        database.websites(),
        /Umami's database at 127\.0\.0\.1.*: it holds no tables of Umami/,
      );
      await database.close();
      const away = await UmamiDatabase.open("postgres://umami:secret@127.0.0.1:1/umami");
      await assert.rejects(away.websites(), (error) => {
        assert.ok(error instanceof Error);
        assert.match(error.message, /^Umami's database at 127\.0\.0\.1:1\/umami: /);
        assert.doesNotMatch(error.message, /secret/);
        return true;
      });
      await away.close();
    }),
});
