import assert from "node:assert/strict";
import { insertEvents } from "../../../src/ingest/event_insert.ts";
import { type Json, newEvent, TestApp } from "../../support/app.ts";
import { onFreshEngines } from "../../support/databases.ts";
import { newRow } from "../../support/event_rows.ts";

/** Follows a project as a client does: page by page, from where the last poll ended. */
class Tail {
  readonly seen: string[] = [];
  #after: string | null = null;

  constructor(readonly server: TestApp, readonly project: string, readonly limit = 1000) {}

  async poll(): Promise<string[]> {
    const found: string[] = [];
    let cursor: string | null = null;
    let next: string | null = null;
    do {
      const { status, body } = await this.server.read(this.project, {
        limit: String(this.limit),
        bots: "include",
        ...(this.#after === null ? {} : { after: this.#after }),
        ...(cursor === null ? {} : { cursor }),
      });
      assert.equal(status, 200, JSON.stringify(body));
      next ??= body.tailCursor;
      // Whichever page of a tail a client takes it from, it goes on from the same moment.
      if (this.#after !== null) assert.equal(body.tailCursor, next);
      found.push(...body.events.map((event: Json) => String(event.eventId)));
      cursor = body.nextCursor;
    } while (cursor !== null);
    this.#after = next;
    this.seen.push(...found);
    return found;
  }
}

onFreshEngines("GET /v1/events?after=: live tailing", async (t, db) => {
  const server = await new TestApp(db.env).start();
  try {
    await t.step(
      "shows what was stored since, whenever it happened, and nothing twice",
      async () => {
        const project = await server.project();
        const tail = new Tail(server, project.id);
        await server.post(project, [newEvent()]);
        assert.equal((await tail.poll()).length, 1);
        assert.deepEqual(await tail.poll(), []);
        const late = newEvent({ timestamp: "2001-01-01T00:00:00Z" });
        await server.post(project, [late]);
        assert.deepEqual(await tail.poll(), [late.eventId]);
        await server.post(project, [late]);
        assert.deepEqual(await tail.poll(), []);
      },
    );

    await t.step("a cursor goes with the `after` of its page, and with no other", async () => {
      const project = await server.project();
      await server.post(project, [newEvent(), newEvent(), newEvent()]);
      const read = (query: Record<string, string>) =>
        server.read(project.id, { limit: "2", bots: "include", ...query });
      const after = "2001-01-01T00:00:00Z";
      const ofTail = (await read({ after })).body.nextCursor;
      const ofList = (await read({})).body.nextCursor;
      assert.equal((await read({ after, cursor: ofTail })).body.events.length, 1);
      assert.equal((await read({ cursor: ofList })).body.events.length, 1);
      for (const query of [{ cursor: ofTail }, { cursor: ofList, after }]) {
        const { status, body } = await read(query);
        assert.equal(status, 400);
        assert.equal(body.errors[0].field, "cursor");
      }
    });

    await t.step("neither misses nor repeats what concurrent writers commit", async () => {
      const project = await server.project();
      const tail = new Tail(server, project.id, 7);
      const sent: string[] = [];
      let writing = true;
      const writers = Array.from({ length: 4 }, async () => {
        for (let i = 0; i < 25; i++) {
          const events = [newEvent(), newEvent()];
          await server.post(project, events);
          sent.push(...events.map((event) => String(event.eventId)));
        }
      });
      const follow = (async () => {
        while (writing) await tail.poll();
      })();
      await Promise.all(writers);
      writing = false;
      await follow;
      await tail.poll();
      assert.equal(tail.seen.length, 200);
      assert.deepEqual(new Set(tail.seen), new Set(sent));
    });

    await t.step("takes an instant: what was received since", async () => {
      const project = await server.project();
      await server.post(project, [newEvent({ name: "before" })]);
      await new Promise((resolve) => setTimeout(resolve, 5));
      const after = new Date().toISOString();
      await new Promise((resolve) => setTimeout(resolve, 5));
      await server.post(project, [newEvent({ name: "since", timestamp: "2002-02-02T00:00:00Z" })]);
      const { body } = await server.read(project, { after });
      assert.deepEqual(body.events.map((event: Json) => event.name), ["since"]);
      const future = await server.read(project, { after: "9999-12-31T00:00:00Z" });
      assert.deepEqual(future.body.events, []);
    });

    if (server.app.engine !== "postgres") return;
    await t.step("shows a transaction that commits after a younger one, once", async () => {
      const project = await server.project();
      const database = await db.open();
      const [{ project_id } = { project_id: 0 }] = await database.query<{ project_id: number }>(
        "SELECT project_id FROM projects WHERE public_id = $1::text",
        [project.id],
      );
      const tail = new Tail(server, project.id);
      await tail.poll();
      const row = newRow({ project_id });
      const committed = Promise.withResolvers<void>();
      const inserted = Promise.withResolvers<void>();
      const slow = database.transaction(async (sql) => {
        await insertEvents(sql, [row]);
        inserted.resolve();
        await committed.promise;
      });
      await inserted.promise;
      const younger = newEvent();
      await server.post(project, [younger]);
      assert.deepEqual(await tail.poll(), [younger.eventId]);
      assert.deepEqual(await tail.poll(), []);
      committed.resolve();
      await slow;
      assert.deepEqual(await tail.poll(), [row.event_id]);
      assert.deepEqual(await tail.poll(), []);
    });
  } finally {
    await server.stop();
  }
});
