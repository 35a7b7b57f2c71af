import assert from "node:assert/strict";
import { createProject } from "../../src/auth/projects.ts";
import { createLiveShares } from "../../src/shares/live_shares.ts";
import { SHARE_CACHED_MS_MAX } from "../../src/shares/share_limits.ts";
import {
  changeShare,
  createShare,
  revokeShare,
  ShareChange,
  ShareCreation,
} from "../../src/shares/shares.ts";
import { openMigrated } from "../auth/auth_server.ts";
import { onBothEngines } from "../support/databases.ts";

onBothEngines(
  "shares: a change takes effect on other servers within a second",
  async (_t, db) => {
    assert.ok(SHARE_CACHED_MS_MAX < 1_000);
    const sql = await openMigrated(db);
    const { projectId } = await createProject(sql, {
      name: "Shop",
      siteUrl: null,
      timezone: "UTC",
      allowedOrigins: [],
      ipStorage: null,
      retentionDays: null,
    });
    let nowMs = Date.parse("2026-11-23T12:00:00Z");
    const other = createLiveShares(sql, () => nowMs);
    const wanted = ShareCreation.parse({ title: "Board", password: "open sesame" });
    const made = await sql.transaction((tx) => createShare(tx, projectId, wanted, "kept", nowMs));
    assert.equal((await other.find(made.id))?.title, "Board");

    const change = ShareChange.parse({ title: "The board", views: ["goals", "trends"] });
    const changed = await changeShare(sql, made, change, "kept anew");
    assert.deepEqual([changed.epoch, changed.views], [made.epoch + 1, ["goals", "trends"]]);
    nowMs += SHARE_CACHED_MS_MAX + 1;
    assert.deepEqual(await other.find(made.id), changed);

    const expiresAt = new Date(nowMs + 10_000).toISOString();
    const ending = await changeShare(sql, made, ShareChange.parse({ expiresAt }), undefined);
    assert.equal(ending.epoch, changed.epoch);
    nowMs += SHARE_CACHED_MS_MAX + 1;
    assert.ok(await other.find(made.id));
    // Its end needs no look at the database.
    nowMs = Date.parse(expiresAt);
    assert.equal(await other.find(made.id), null);
    await changeShare(sql, made, ShareChange.parse({ expiresAt: null }), undefined);
    nowMs += SHARE_CACHED_MS_MAX + 1;
    assert.ok(await other.find(made.id));

    await revokeShare(sql, made);
    nowMs += SHARE_CACHED_MS_MAX + 1;
    assert.equal(await other.find(made.id), null);
    assert.equal(await other.find("shr_nothing"), null);
    assert.equal(await other.find("\0"), null);
  },
);
