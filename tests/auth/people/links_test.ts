import assert from "node:assert/strict";
import { expireLinksOf } from "../../../src/auth/people/links.ts";
import { createPerson, passwordOf } from "../../../src/auth/people/people.ts";
import { assertProblem, type Reply, TestApp } from "../../support/app.ts";
import { onPostgres } from "../../support/databases.ts";
import { PASSWORD, PersonBrowser } from "../../support/person_browser.ts";
import { until } from "../../support/server_process.ts";

onPostgres(
  "links: used or made anew while the password changes, they wait for that",
  async (_, db) => {
    const sql = await db.open();
    const app = await new TestApp(db.env).start();
    try {
      const { id } = await createPerson(sql, {
        email: "ada@example.com",
        name: "Ada",
        role: "viewer",
        projects: "*",
        password: "scrypt$",
        hasJoined: true,
        nowMs: Date.now(),
      });
      const makeLink = () => app.admin("POST", `/v1/people/${id}/invitation`);
      const isWaiting = async () =>
        (await sql.query("SELECT FROM pg_locks WHERE NOT granted")).length > 0;
      /** Asks while the password changes, whose statements these are, one after the other. */
      const meanwhile = async (ask: () => Promise<Reply>): Promise<Reply> => {
        let asked: Promise<Reply> | null = null;
        await sql.transaction(async (inside) => {
          await passwordOf(inside, id);
          asked = ask();
          await until(20_000, isWaiting, "the link waits");
          await expireLinksOf(inside, id, Date.now());
        });
        return (await asked!)!;
      };
      const { body } = await makeLink();
      const [, token] = body.invitation.url.split("#reset=");
      const use = { token, password: PASSWORD };
      const reset = () => new PersonBrowser(app).ask("POST", "/v1/auth/reset", use);
      assertProblem(await meanwhile(reset), 403, "expired_link");
      assert.equal((await makeLink()).status, 201);
      assert.equal((await meanwhile(makeLink)).status, 201);
    } finally {
      await app.stop();
    }
  },
);
