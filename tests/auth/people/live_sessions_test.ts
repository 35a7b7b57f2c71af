import assert from "node:assert/strict";
import { createLiveSessions } from "../../../src/auth/people/live_sessions.ts";
import { changePerson, createPerson } from "../../../src/auth/people/people.ts";
import { SESSION_CACHED_MS_MAX } from "../../../src/auth/people/people_limits.ts";
import { endSessions, startSession } from "../../../src/auth/people/sessions.ts";
import type { Principal } from "../../../src/auth/access.ts";
import { DatabaseUnavailable } from "../../../src/db/sql.ts";
import { onBothEngines } from "../../support/databases.ts";
import { fakeSql } from "../../support/fake_sql.ts";
import { counted, openMigrated } from "../auth_server.ts";

const START_MS = Date.UTC(2026, 10, 23, 12);

onBothEngines(
  "live sessions: an end on another server takes effect here within a second",
  async (_, db) => {
    const sql = counted(await openMigrated(db));
    let nowMs = START_MS;
    const here = createLiveSessions(sql, () => nowMs);
    const person = await createPerson(sql, {
      email: "ada@example.com",
      name: "Ada",
      role: "editor",
      projects: ["prj_a"],
      password: null,
      hasJoined: true,
      nowMs,
    });
    const at = { device: null, place: null, address: null };
    const begin = async (): Promise<Principal> => {
      const { sessionId } = await startSession(sql, { personId: person.id, at, nowMs });
      return {
        subject: person.email,
        scopes: new Set(["read"]),
        projects: ["prj_a"],
        expiresAtMs: nowMs + 900_000,
        session: { id: sessionId, rights: person.rights },
      };
    };
    const [first, second] = [await begin(), await begin()];
    await here.assertHolds(first);
    const before = sql.queries;
    for (let i = 0; i < 100; i++) await here.assertHolds(first);
    assert.equal(sql.queries, before, "it is believed for a moment");

    // Another server ends one of the two.
    await endSessions(sql, person.id, second.session!.id);
    nowMs += SESSION_CACHED_MS_MAX + 1;
    assert.ok(SESSION_CACHED_MS_MAX < 1000);
    await assert.rejects(here.assertHolds(first), { code: "invalid_token" });
    await here.assertHolds(second);

    // And changes what the person may do.
    await sql.transaction((inside) => changePerson(inside, person.id, { role: "viewer" }));
    nowMs += SESSION_CACHED_MS_MAX + 1;
    await assert.rejects(here.assertHolds(second), { code: "expired_token" });

    // A change made here holds at once.
    const third: Principal = {
      ...second,
      session: { id: second.session!.id, rights: person.rights + 1 },
    };
    await here.assertHolds(third);
    await endSessions(sql, person.id);
    here.invalidate();
    await assert.rejects(here.assertHolds(third), { code: "invalid_token" });
    // Tokens of nobody's session pass.
    const { session: _session, ...stateless } = third;
    await here.assertHolds(stateless);
  },
);

Deno.test("live sessions: while the database is away none is accepted or refused", async () => {
  const away = fakeSql({ query: () => Promise.reject(new DatabaseUnavailable("away")) });
  const here = createLiveSessions(away, () => START_MS);
  const principal: Principal = {
    subject: "ada@example.com",
    scopes: new Set(["read"]),
    projects: "*",
    expiresAtMs: START_MS + 1,
    session: { id: "ses_a", rights: 1 },
  };
  await assert.rejects(here.assertHolds(principal), DatabaseUnavailable);
});
