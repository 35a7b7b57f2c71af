import assert from "node:assert/strict";
import { addPasskey, removePasskey } from "../../../src/auth/passkeys/passkeys.ts";
import {
  assertOwnerSignsIn,
  changePerson,
  createPerson,
  lockWithOwners,
  removePerson,
  setPassword,
} from "../../../src/auth/people/people.ts";
import { startSession } from "../../../src/auth/people/sessions.ts";
import type { Database } from "../../../src/db/sql.ts";
import { assertProblem, type Reply, TestApp } from "../../support/app.ts";
import { onBothEngines, onFreshEngines, onPostgres } from "../../support/databases.ts";
import { PersonBrowser } from "../../support/person_browser.ts";
import { until } from "../../support/server_process.ts";

/** Two requests at once race for the same rows: one round alone may go well by luck. */
const ROUNDS = 6;

/** What is done to the two last owners at the same moment. */
const ATTEMPTS: readonly (readonly [string, string])[] = [
  ["DELETE", "DELETE"],
  ["PATCH", "PATCH"],
  ["DELETE", "PATCH"],
];

/** An owner, who can sign in if there is what is kept of a password. */
async function owner(sql: Database, password: string | null = "scrypt$"): Promise<string> {
  const { id } = await createPerson(sql, {
    email: `${crypto.randomUUID()}@example.com`,
    name: "Owner",
    role: "owner",
    projects: "*",
    password,
    hasJoined: true,
    nowMs: Date.now(),
  });
  return id;
}

/** Keeps a passkey of a person, which has their id. */
async function passkeyOf(sql: Database, personId: string): Promise<void> {
  const nowMs = Date.now();
  const device = { publicKey: new Uint8Array(1), counter: 0, transports: [] };
  const passkey = { ...device, credentialId: personId };
  await addPasskey(sql, { personId, name: "Laptop", passkey, nowMs });
}

/** Whether something waits for a lock. */
async function isWaiting(sql: Database): Promise<boolean> {
  return (await sql.query("SELECT FROM pg_locks WHERE NOT granted")).length > 0;
}

onFreshEngines(
  "last owner: of two who are removed or demoted at once, one stays",
  async (_, db) => {
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
  },
);

/** What a provider calls itself in its answers, and what may be configured for it. */
const SAME_PROVIDERS: readonly (readonly [string, string])[] = [
  ["https://shop.auth0.com/", "https://shop.auth0.com"],
  ["https://login.example.com", "HTTPS://login.example.com:443/"],
  [
    "https://a.example/realms/main",
    "https://a.example/realms/main/.well-known/openid-configuration",
  ],
  [
    "https://login.microsoftonline.com/9188040d-6c67-4c5b-b112-36a304b66dad/v2.0",
    "https://login.microsoftonline.com/shop.example/v2.0",
  ],
];

/** The person signs in at that provider. */
async function identity(sql: Database, personId: string, issuer: string): Promise<void> {
  const now = new Date().toISOString();
  await sql.query(
    `INSERT INTO oidc_identities (issuer, subject, person_id, created_at, last_used_at)
    VALUES ($1::text, $2::text, $2::text, $3::text::timestamptz, $3::text::timestamptz)`,
    [issuer, personId, now],
  );
}

onBothEngines(
  "last owner: the provider is the one that discovery accepts as such",
  async (_, db) => {
    const sql = await db.open();
    for (const [told, configured] of SAME_PROVIDERS) {
      await sql.query("DELETE FROM people");
      await identity(sql, await owner(sql, null), told);
      await assertOwnerSignsIn(sql, told);
      await assertOwnerSignsIn(sql, configured);
      const another = configured.replace(/:\/\/[^/]+/, "://another.example");
      for (const issuer of [another, `${told}/other`]) {
        await assert.rejects(assertOwnerSignsIn(sql, issuer), { code: "last_owner" }, issuer);
      }
    }
  },
);

onFreshEngines(
  "last owner: who has no way in is none, and the last way in stays",
  async (_, db) => {
    const sql = await db.open();
    const issuer = "https://login.example.com";
    const [leaving, other] = [await owner(sql), await owner(sql, null)];
    const stays = (id: string) =>
      assert.rejects(changePerson(sql, id, { role: "viewer" }, issuer), { code: "last_owner" });
    const undone = new Error("undone");
    const mayGo = (id: string, by: string | null) =>
      assert.rejects(
        sql.transaction(async (inside) => {
          await removePerson(inside, id, by);
          throw undone;
        }),
        undone,
      );
    await stays(leaving);
    await mayGo(other, null);
    // Also of whoever has no way in themselves what is told is true.
    await sql.query("UPDATE people SET password = NULL");
    await assert.rejects(removePerson(sql, leaving, null), {
      message: /^No other owner can sign in\./,
    });
    await setPassword(sql, { personId: leaving, password: "scrypt$", nowMs: Date.now() });
    await identity(sql, other, issuer);
    await mayGo(leaving, issuer);
    // Whoever signs in at a provider signs in nowhere once another one, or none, is configured.
    for (const by of ["https://other.example.com", null]) {
      await assert.rejects(removePerson(sql, leaving, by), { code: "last_owner" });
    }
    await passkeyOf(sql, other);
    await mayGo(leaving, null);
    await removePerson(sql, leaving, null);
    await assertOwnerSignsIn(sql, null);
    await removePasskey(sql, other, other);
    await assert.rejects(assertOwnerSignsIn(sql, null), { code: "last_owner" });
  },
);

onPostgres(
  "last owner: of two who remove their only passkey at once, one keeps it",
  async (_, db) => {
    const sql = await db.open();
    const app = await new TestApp(db.env).start();
    try {
      const [first, second] = [await owner(sql, null), await owner(sql, null)];
      for (const id of [first, second]) await passkeyOf(sql, id);
      const at = { device: null, place: null, address: null };
      const { secret } = await startSession(sql, { personId: second, at, nowMs: Date.now() });
      const browser = new PersonBrowser(app);
      browser.cookies.set("footfall", secret);
      let removed: Promise<Reply> | null = null;
      await sql.transaction(async (inside) => {
        await lockWithOwners(inside, first);
        await removePasskey(inside, first, first);
        removed = browser.ask("DELETE", `/v1/auth/passkeys/${second}`);
        await until(20_000, () => isWaiting(sql), "the other removal waits");
        await assertOwnerSignsIn(inside, null);
      });
      assertProblem((await removed!)!, 409, "last_owner");
      await assertOwnerSignsIn(sql, null);
    } finally {
      await app.stop();
    }
  },
);

onFreshEngines("a rename leaves the role that another owner gives meanwhile", async (_, db) => {
  // On the embedded engine one change follows the other.
  if (!("DATABASE_URL" in db.env)) return;
  const sql = await db.open();
  const app = await new TestApp(db.env).start();
  try {
    await owner(sql);
    const id = await owner(sql);
    let renamed: ReturnType<TestApp["admin"]> | null = null;
    await sql.transaction(async (inside) => {
      await changePerson(inside, id, { role: "viewer", projects: ["prj_default"] });
      renamed = app.admin("PATCH", `/v1/people/${id}`, { name: "Ada" });
      await until(20_000, () => isWaiting(sql), "the rename waits");
    });
    const { name, role, projects } = (await renamed!).body.person;
    assert.deepEqual([name, role, projects], ["Ada", "viewer", ["prj_default"]]);
  } finally {
    await app.stop();
  }
});
