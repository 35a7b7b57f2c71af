import assert from "node:assert/strict";
import { onFreshEngines } from "../support/databases.ts";
import { done, withApp, withEmbedded, withFile } from "./archive_world.ts";

const PROJECT = "prj_default";
const DIGEST = `/v1/digests/daily?project=${PROJECT}`;

onFreshEngines(
  "restore: a project's digests go by the time zone that it takes from the archive",
  (_t, db) =>
    withFile((file) =>
      withEmbedded(async (elsewhere) => {
        await withApp(elsewhere, async (app) => {
          const patch = { timezone: "Pacific/Auckland" };
          assert.equal((await app.admin("PATCH", `/v1/projects/${PROJECT}`, patch)).status, 200);
        });
        await done(elsewhere, "archive", file);
        const digest = { title: "The day", every: "daily", at: "08:00", to: [] };
        const saved = await withApp(db.env, (app) => app.admin("PUT", DIGEST, digest));
        const nextAt = Temporal.Instant.from(saved.body.nextAt);
        await done(db.env, "restore", file);
        const listed = await withApp(
          db.env,
          (app) => app.admin("GET", `/v1/digests?project=${PROJECT}`),
        );
        const expected = nextAt.toZonedDateTimeISO("UTC").toPlainDateTime()
          .toZonedDateTime("Pacific/Auckland").toInstant();
        assert.equal(
          listed.body.digests[0].nextAt,
          new Date(expected.epochMilliseconds).toISOString(),
        );
      })
    ),
);
