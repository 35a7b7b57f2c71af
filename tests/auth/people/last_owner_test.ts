import assert from "node:assert/strict";
import { changePerson, createPerson } from "../../../src/auth/people/people.ts";
import type { Database } from "../../../src/db/sql.ts";
import { TestApp } from "../../support/app.ts";
import { onBothEngines } from "../../support/databases.ts";
import { until } from "../../support/server_process.ts";

/** Two requests at once race for the same rows: one round alone may go well by luck. */
const ROUNDS = 6;

/** What is done to the two last owners at the same moment. */
const ATTEMPTS: readonly (readonly [string, string])[] = [
  ["DELETE", "DELETE"],
  ["PATCH", "PATCH"],
  ["DELETE", "PATCH"],
];

/** An owner who can sign in. */
async function owner(sql: Database): Promise<string> {
  const { id } = await createPerson(sql, {
    email: `${crypto.randomUUID()}@example.com`,
    name: "Owner",
    role: "owner",
    projects: "*",
    password: null,
    hasJoined: true,
    nowMs: Date.now(),
  });
  return id;
}

onBothEngines("last owner: of two who are removed or demoted at once, one stays", async (_, db) => {
  const sql = await db.open();
  // The embedded engine has one session, which the app takes over.
  const isShared = "DATABASE_URL" in db.env;
  const substitutes = isShared ? {} : { opening: Promise.resolve(sql) };
  const app = await new TestApp(isShared ? db.env : {}, substitutes).start();
  const owners = async () =>
    await sql.query("SELECT FROM people WHERE role = 'owner' AND joined_at IS NOT NULL");
  try {
    for (let round = 0; round < ROUNDS; round++) {
      for (const methods of ATTEMPTS) {
        await sql.query("DELETE FROM people");
        const ids = [await owner(sql), await owner(sql)];
        const replies = await Promise.all(methods.map((method, i) =>
          app.admin(
            method,
            `/v1/people/${ids[i]}`,
            method === "PATCH" ? { role: "viewer", projects: ["*"] } : undefined,
          )
        ));
        const told = replies.map(({ status, body }) => status === 409 ? body.code : "done");
        assert.deepEqual(told.toSorted(), ["done", "last_owner"], methods.join(" and "));
        assert.equal((await owners()).length, 1);
      }
    }
  } finally {
    await app.stop();
  }
});

onBothEngines("a rename leaves the role that another owner gives meanwhile", async (_, db) => {
  // On the embedded engine one change follows the other.
  if (!("DATABASE_URL" in db.env)) return;
  const sql = await db.open();
  const app = await new TestApp(db.env).start();
  try {
    await owner(sql);
    const id = await owner(sql);
    const isWaiting = async () =>
      (await sql.query("SELECT FROM pg_locks WHERE NOT granted")).length > 0;
    let renamed: ReturnType<TestApp["admin"]> | null = null;
    await sql.transaction(async (inside) => {
      await changePerson(inside, id, { role: "viewer", projects: ["prj_default"] });
      renamed = app.admin("PATCH", `/v1/people/${id}`, { name: "Ada" });
      await until(20_000, isWaiting, "the rename waits");
    });
    const { name, role, projects } = (await renamed!).body.person;
    assert.deepEqual([name, role, projects], ["Ada", "viewer", ["prj_default"]]);
  } finally {
    await app.stop();
  }
});
