import assert from "node:assert/strict";
import type { Database } from "../../src/db/sql.ts";
import { insertEvents } from "../../src/ingest/event_insert.ts";
import { eraseActor, searchBeforeErasing } from "../../src/projection/erasure.ts";
import { deleteEventsBefore } from "../../src/projection/retention.ts";
import { mergeOnce } from "../../src/projection/merging.ts";
import { createProjection } from "../../src/projection/projection.ts";
import { candidateValues } from "../../src/query/known_values.ts";
import type { EventRow } from "../../src/store/event_row.ts";
import { SEGMENTS_MERGED } from "../../src/store/store_limits.ts";
import { dropUsedWords, usedWords } from "../../src/store/used_words.ts";
import { onBothEngines } from "../support/databases.ts";
import { openWithProjects } from "../support/event_rows.ts";
import { projected, rowAt, START_MS, STEP_MS } from "./removal_world.ts";

type Change = (database: Database, project: number) => Promise<unknown>;

const arrive = (...rows: readonly EventRow[]): Change => async (database, project_id) => {
  await insertEvents(database, rows.map((row) => ({ ...row, project_id })));
  await createProjection(database).catchUp(project_id);
};

const eraseActorOf = (value: string): Change => async (database, project) => {
  const [who] = await database.query<{ actor_id: number }>(
    "SELECT actor_id FROM identities WHERE project_id = $1::int AND value = $2::text",
    [project, value],
  );
  await database.transaction((tx) => eraseActor(tx, project, who!.actor_id));
};

const visit = (step: number, path: string, members: Partial<EventRow>) =>
  rowAt(step, { name: "page_view", path, ...members });

/** Visits of u1 and of others; two of the pages are of several people. */
const VISITS = [
  visit(1, "/", { user_id: "u1" }),
  visit(2, "/hers", { user_id: "u1" }),
  visit(3, "/hers-before", { anonymous_id: "a1" }),
  visit(10, "/signs-in", { user_id: "u1", anonymous_id: "a1" }),
  visit(4, "/", { anonymous_id: "a2" }),
  visit(5, "/a2", { anonymous_id: "a2" }),
  visit(12, "/both", { user_id: "u1" }),
  visit(7, "/both", { anonymous_id: "a4" }),
];

/** What may happen between the look and the lock, and the paths that stay after it. */
const BETWEEN: Readonly<Record<string, { readonly change: Change; readonly left: string[] }>> = {
  nothing: { change: () => Promise.resolve(), left: ["/", "/a2", "/both"] },
  "somebody else sees one of the pages": {
    change: arrive(visit(20, "/hers", { anonymous_id: "a3" })),
    left: ["/", "/a2", "/both", "/hers"],
  },
  "she sees another page": {
    change: arrive(visit(20, "/late", { user_id: "u1" })),
    left: ["/", "/a2", "/both"],
  },
  "segments are merged": {
    change: async (database, project) => {
      for (let step = 20; step < 20 + SEGMENTS_MERGED; step++) {
        await arrive(visit(step, "/", { anonymous_id: "a3" }))(database, project);
      }
      assert.ok(await mergeOnce(database, project), "there is nothing to merge");
    },
    left: ["/", "/a2", "/both"],
  },
  "a device turns out to be hers": {
    change: arrive(visit(20, "/", { user_id: "u1", anonymous_id: "a2" })),
    left: ["/both"],
  },
  "a device turns out to be somebody else's": {
    change: arrive(visit(0, "/", { user_id: "u2", anonymous_id: "a1" })),
    left: ["/", "/a2", "/both", "/hers-before"],
  },
  "the other one who saw a page is erased": {
    change: eraseActorOf("a4"),
    left: ["/", "/a2"],
  },
  "the other one's visit expires": {
    change: (database, project) => deleteEventsBefore(database, project, START_MS + 7.5 * STEP_MS),
    left: [],
  },
};

for (const [name, { change, left }] of Object.entries(BETWEEN)) {
  onBothEngines(`erasure: words are looked for before the lock, then ${name}`, async (_t, db) => {
    const database = await openWithProjects(db);
    const project = await projected(database, VISITS);
    const [who] = await database.query<{ actor_id: number }>(
      "SELECT actor_id FROM identities WHERE project_id = $1::int AND value = 'u1'",
      [project],
    );
    const earlier = await searchBeforeErasing(database, project, who!.actor_id);
    assert.ok(earlier, "nothing was found");
    await change(database, project);
    await database.transaction((tx) => eraseActor(tx, project, who!.actor_id, false, earlier));
    assert.deepEqual((await candidateValues(database, project, "path")).toSorted(), left);
  });
}

onBothEngines(
  "words are not looked for again in segments that were gone through",
  async (_t, db) => {
    const database = await openWithProjects(db);
    const project = await projected(database, VISITS);
    const all = () => usedWords(database, project, { beforeMs: Infinity });
    const words = await all();
    const { segments } = await dropUsedWords(database, project, words, null);
    assert.deepEqual([words.terms.size, segments.size > 0], [0, true]);
    const again = await all();
    assert.equal((await dropUsedWords(database, project, again, null, segments)).segments.size, 0);
    assert.deepEqual(again, await all());
  },
);
