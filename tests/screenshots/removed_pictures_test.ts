import assert from "node:assert/strict";
import { removePictures } from "../../src/screenshots/queue/removed_pictures.ts";
import { projected, rowAt } from "../projection/removal_world.ts";
import { onBothEngines } from "../support/databases.ts";
import { openWithProjects } from "../support/event_rows.ts";
import { storePicturesOf } from "./stored_pictures.ts";

onBothEngines(
  "pictures: of paths that went, those go that no event has in another spelling",
  async (_t, db) => {
    const database = await openWithProjects(db);
    const project = await projected(database, [rowAt(1, { name: "page_view", path: "/café" })]);
    const pages = ["/caf%C3%A9", "/profil/J%C3%BCrgen", "/other"];
    for (const each of [project, 1]) await storePicturesOf(database, each, pages);
    await database.transaction((tx) =>
      removePictures(tx, project, ["/caf%C3%A9", "/profil/Jürgen", "User 42", ""])
    );
    for (const table of ["capture_pages", "capture_tasks"]) {
      const kept = await database.query<{ path: string }>(
        `SELECT path FROM ${table} WHERE project_id = $1::int ORDER BY path`,
        [project],
      );
      assert.deepEqual(kept.map(({ path }) => path), ["/caf%C3%A9", "/other"], table);
      const others = await database.query(`SELECT FROM ${table} WHERE project_id = 1`);
      assert.equal(others.length, pages.length);
    }
  },
);
