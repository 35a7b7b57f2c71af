import assert from "node:assert/strict";
import { listDeliveries } from "../../src/notifications/deliveries.ts";
import { encodeRowCursor } from "../../src/query/row_cursor.ts";
import { onBothEngines } from "../support/databases.ts";
import { openWithProjects } from "../support/event_rows.ts";

onBothEngines(
  "deliveries: a page of messages is read by index before the planner knows of twenty thousand",
  async (_, db) => {
    const database = await openWithProjects(db);
    await database.script(
      `ALTER TABLE deliveries SET (autovacuum_enabled = false);
      INSERT INTO projects (public_id, name) VALUES ('prj_three', 'Three')`,
    );
    await database.query(
      `INSERT INTO deliveries (delivery_id, project_id, source, slug, channel, receiver, message, status,
        created_at)
      SELECT 'msg_' || i, CASE WHEN i % 100 = 1 THEN 2 ELSE 1 + i % 2 * 2 END, 'alert', 'a', 'mail', 'a@example.com',
        '{"subject":"A","title":"A","isTest":false,"sections":[]}', 'sent', now()
      FROM generate_series(1, 20000) i`,
    );
    const listed = (cursor: string | null) =>
      database.transaction(async (tx) => {
        const query = new URLSearchParams({ limit: "10", ...cursor === null ? {} : { cursor } });
        const page = await listDeliveries(tx, 2, query, "*");
        const [row] = await tx.query<{ rows: number }>(
          `SELECT (seq_tup_read + coalesce(idx_tup_fetch, 0))::int AS rows
          FROM pg_stat_xact_user_tables WHERE relname = 'deliveries'`,
        );
        assert.ok(row!.rows <= 100, `${row!.rows} rows were read`);
        return { ids: page.rows.map(({ id }) => id), next: page.nextCursor };
      });
    const first = await listed(null);
    const ids = Array.from({ length: 20 }, (_, i) => `msg_${19_901 - 100 * i}`);
    assert.deepEqual(first.ids, ids.slice(0, 10));
    assert.deepEqual((await listed(first.next)).ids, ids.slice(10));
    const madeUp = async (count: number) =>
      (await listed(encodeRowCursor({ counts: [count], value: null }))).ids;
    assert.deepEqual(await madeUp(1e300), ids.slice(0, 10));
    assert.deepEqual(await madeUp(1.5), ["msg_1"]);
    assert.deepEqual(await madeUp(-1e300), []);
  },
);
