import assert from "node:assert/strict";
import { zstdCompressSync } from "node:zlib";
import { ARCHIVED_TABLES, LEFT_TABLES } from "../../src/archive/archived_tables.ts";
import { readRowFigures } from "../../src/archive/read_figures.ts";
import { MIGRATIONS } from "../../src/db/migrations.ts";
import type { Database } from "../../src/db/sql.ts";
import { assertProblem, type Json } from "../support/app.ts";
import { onFreshEngines } from "../support/databases.ts";
import { done, withApp, withDatabase, withEmbedded, withFile } from "./archive_world.ts";

/** A row or two of each table that an archive holds, as the product writes them. */
const ROWS = `
INSERT INTO projects (public_id, name, site_url, timezone, allowed_origins, ip_storage, retention_days,
  created_at, site_url_by_operator)
VALUES ('prj_one', 'One "and" more', 'https://one.example', 'Europe/Berlin', '{https://one.example}',
  'truncated', 4000, '2025-03-04T05:06:07.891234Z', true);
INSERT INTO api_keys (key_id, project_id, kind, label, key_hash, hint, expires_at, revoked_at, key)
SELECT 'key_' || kind, project_id, kind, 'Its ' || kind, sha256(convert_to(kind, 'UTF8')), 'abcd',
  '2030-01-01', '2029-01-01', CASE WHEN kind = 'public' THEN 'pk_whole' END
FROM projects, unnest('{public,secret}'::text[]) kind WHERE public_id = 'prj_one';
INSERT INTO saved_funnels (project_id, slug, title, definition)
SELECT project_id, 'f', 'A funnel', '{"steps": [{"name": "a"}, {"name": "b\\u00e9"}]}' FROM projects
WHERE public_id = 'prj_one';
INSERT INTO goals (project_id, slug, title, definition)
SELECT project_id, 'g', 'A goal', '{"match": {"name": "x"}, "value": {"fixed": 2.50}}' FROM projects
WHERE public_id = 'prj_one';
INSERT INTO notes (project_id, note_id, day, at_ms, text, written_by, key_id, created_at)
SELECT project_id, 'note_' || n, CASE n WHEN 1 THEN 20000 END, CASE n WHEN 2 THEN 1700000000123 END,
  'A "note" ' || n, 'ada@example.com', CASE n WHEN 2 THEN 'key_secret' END, now()
FROM projects, generate_series(1, 2) n WHERE public_id = 'prj_one';
INSERT INTO saved_segments (project_id, slug, title, definition)
SELECT project_id, 's', 'A segment', '{"filters": [], "actors": {"did": {"name": "x", "filters": []}}}'
FROM projects WHERE public_id = 'prj_one';
INSERT INTO shares (share_id, project_id, title, views, filters, minimum_visitors, embed_origins,
  password, created_at)
SELECT 'share_one', project_id, 'Shown', '{overview,pages}', '[]', 3, '{}', 'scrypt:…', now()
FROM projects WHERE public_id = 'prj_one';
INSERT INTO webhooks (project_id, slug, title, definition, by_operator, secret)
SELECT project_id, 'chat', 'The chat', '{"url": "https://hooks.example/1", "format": "slack"}', true,
  'whsec_c2VjcmV0' FROM projects WHERE public_id = 'prj_one';
INSERT INTO deliveries (delivery_id, project_id, source, slug, channel, receiver, message, created_at,
  due_at)
SELECT 'msg_one', project_id, 'alert', 'quiet', 'webhook', 'chat', '{"kind": "alert", "sections": []}',
  now(), '2030-01-01' FROM projects WHERE public_id = 'prj_one';
INSERT INTO digests (project_id, slug, title, definition, address, due_at)
SELECT project_id, 'weekly', 'The week', '{"every": "weekly", "to": ["ada@example.com"]}',
  'https://stats.example', '2030-01-01' FROM projects WHERE public_id = 'prj_one';
INSERT INTO alerts (project_id, slug, title, definition, address, due_at, firing_since, told)
SELECT project_id, 'quiet', 'Nobody comes', '{"on": {"kind": "silence", "minutes": 30}}',
  'https://stats.example', '2030-01-01', now(), '{one}' FROM projects WHERE public_id = 'prj_one';
INSERT INTO captures (captured_at, project_id, width_px, height_px, is_cut, path_digest, capture_id,
  device, content_type, content_hash, image)
SELECT now(), project_id, 1440, 2000 + n, false, md5('/' || n)::uuid, 'cap_' || n, 'desktop',
  'image/webp', sha256(convert_to(n::text, 'UTF8')),
  decode(repeat(md5(n::text), 20000), 'hex')
FROM projects, generate_series(1, 3) n WHERE public_id = 'prj_one';
INSERT INTO capture_pages (attempted_at, project_id, path_digest, device, path, status, message,
  capture_id)
SELECT now(), project_id, md5('/' || n)::uuid, 'desktop', '/' || n, 'captured', '', 'cap_' || n
FROM projects, generate_series(1, 3) n WHERE public_id = 'prj_one';
INSERT INTO capture_selections (selected_at, project_id, is_full, path_digests)
SELECT now(), project_id, false, ARRAY[md5('/1')::uuid] FROM projects WHERE public_id = 'prj_one';
INSERT INTO imported_days (project_id, day, source, dimension, digest, value_texts, visitors, visits,
  pageviews, bounces, seconds, events)
SELECT project_id, 19000, 'plausible', 'source', md5('x')::uuid, '{NULL,"a \\"b"}', '{1,NULL}', '{1,2}',
  '{3,4}', '{0,0}', '{1.5,0.1}', '{3,4}' FROM projects WHERE public_id = 'prj_one';
INSERT INTO people (person_id, email, name, role, projects, password, joined_at, created_at)
VALUES ('per_a', 'ada@example.com', 'Ada', 'owner', '{*}', 'scrypt:…', now(), now()),
  ('per_b', 'bob@example.com', 'Bob', 'viewer', '{prj_one}', NULL, NULL, now());
INSERT INTO passkeys (credential_id, person_id, name, public_key, counter, created_at)
VALUES ('cred_a', 'per_a', 'A phone', '\\x0102ff', 7, now());
INSERT INTO oidc_identities (issuer, subject, person_id, created_at)
VALUES ('https://id.example', 'ada', 'per_a', now());
INSERT INTO api_tokens (token_id, name, scopes, projects, person_id, parent_id, made_by, epoch,
  created_at, expires_at)
VALUES ('tok_z', 'Parent', '{read}', '{*}', 'per_a', NULL, 'ada@example.com', 0, '2026-01-01',
    '2030-01-01'),
  ('tok_a', 'Child', '{read}', '{*}', NULL, 'tok_z', 'API token Parent', 0, '2026-01-02',
    '2030-01-01');
INSERT INTO audit (at, who, what, subject, project_id, from_address)
SELECT now() - make_interval(secs => n), 'ada@example.com', 'goal', 'Row ' || n,
  CASE WHEN n % 2 = 0 THEN (SELECT project_id FROM projects WHERE public_id = 'prj_one') END, NULL
FROM generate_series(1, 1201) n;
INSERT INTO settings (name, value) VALUES ('jwt_secret', 'of the one server');
INSERT INTO token_epochs (begun_at) VALUES (now()), (now());
INSERT INTO person_links (token_hash, kind, person_id, created_at, expires_at)
VALUES ('\\x01', 'invitation', 'per_b', now(), now() + interval '7 days');
INSERT INTO person_sessions (session_id, token_hash, person_id, created_at, last_seen_at, expires_at)
VALUES ('ses_a', '\\x02', 'per_a', now(), now(), now() + interval '30 days');
`;

/** What only a move takes along. */
const MOVED = ["deliveries"];

/** The audit tells of the archives themselves. */
const figures = (sql: Database) => readRowFigures(sql, true, new Set(["audit"]));

onFreshEngines("archive: every table that it holds is the same again", async (_t, db) => {
  await withFile((file) =>
    withEmbedded(async (target) => {
      await withApp(db.env, () => Promise.resolve());
      const expected = await withDatabase(db.env, async (sql) => {
        await sql.script(ROWS);
        // The salts are of the day on which somebody looks.
        await sql.query(
          `INSERT INTO daily_salts (day, salt)
          VALUES ((now() AT TIME ZONE 'UTC')::date, '\\x0a') ON CONFLICT DO NOTHING`,
        );
        return await figures(sql);
      });
      const made = await done(db.env, "archive", file, "--secrets");
      const empty = ARCHIVED_TABLES.map(({ name }) => name).filter((name) =>
        !(made.rows[name] > 0)
      );
      assert.deepEqual(empty, MOVED, "a row of each other table stands in the archive");

      const restored = await done(target, "restore", file);
      const others = restored.rows.left.filter(({ table }: Json) =>
        !["settings", "daily_salts"].includes(table as string)
      );
      assert.deepEqual(others, []);
      await withDatabase(target, async (sql) => {
        const found = await figures(sql);
        assert.deepEqual(found.deliveries, {}, "no second server sends them");
        for (const table of ["settings", "daily_salts", "projects", "api_keys", ...MOVED]) {
          // A server that has started has made its own first.
          delete found[table];
          delete expected[table];
        }
        assert.deepEqual(found, expected);
        const [audit] = await sql.query<{ count: number }>(
          "SELECT count(*)::int AS count FROM audit WHERE what = 'goal'",
        );
        assert.equal(audit!.count, 1201);
      });
    })
  );
});

onFreshEngines("archive: without --secrets, nothing that lets anybody in", async (_t, db) => {
  await withFile(async (file) => {
    await withApp(db.env, () => Promise.resolve());
    await withDatabase(db.env, (sql) => sql.script(ROWS));
    const whole = await done(db.env, "archive", file);
    const secret = ARCHIVED_TABLES.filter(({ secret }) => secret).map(({ name }) => name);
    assert.ok(secret.length >= 4);
    for (const name of secret) assert.equal(whole.rows[name], undefined, name);

    const project = await done(db.env, "archive", file, "--project", "prj_one");
    assert.equal(project.rows.people, undefined);
    assert.equal(project.rows.audit, 600);
    assert.equal(project.rows.projects, 1);
  });
});

onFreshEngines(
  "restore: what is there already stays, and the archive's row is named",
  async (_t, db) => {
    await withFile((file) =>
      withEmbedded(async (target) => {
        await withApp(db.env, () => Promise.resolve());
        await withDatabase(db.env, (sql) => sql.script(ROWS));
        await done(db.env, "archive", file);
        await withApp(target, () => Promise.resolve());
        await withDatabase(target, (sql) =>
          sql.script(`
        INSERT INTO people (person_id, email, name, role, projects, created_at)
        VALUES ('per_other', 'ada@example.com', 'Another Ada', 'owner', '{*}', now());
        INSERT INTO api_keys (key_id, project_id, kind, key_hash, hint)
        SELECT 'key_other', project_id, 'secret', sha256(convert_to('secret', 'UTF8')), 'abcd'
        FROM projects;`));
        const { rows } = await done(target, "restore", file);
        const left = rows.left.map(({ table, row }: Json) => `${table}: ${row}`)
          .filter((line: string) => !line.startsWith("daily_salts"));
        assert.deepEqual(left, [
          "api_keys: Its secret abcd",
          "people: ada@example.com",
          "passkeys: a row",
          "oidc_identities: https://id.example ada",
          "api_tokens: Parent",
          "api_tokens: Child",
        ]);
        await withDatabase(target, async (sql) => {
          const people = await sql.query<{ name: string }>("SELECT name FROM people ORDER BY name");
          assert.deepEqual(people.map(({ name }) => name), ["Another Ada", "Bob"]);
        });
      })
    );
  },
);

onFreshEngines("restore: what only a move takes along is refused", async (_t, db) => {
  await withApp(db.env, async (app) => {
    const { id } = await app.project();
    const archive = crypto.randomUUID();
    const wanted = { archive, schema: MIGRATIONS.length, projects: [{ id, as: id }] };
    assert.equal((await app.admin("POST", "/v1/restorations", wanted)).status, 200);
    for (const table of MOVED) {
      const frame = zstdCompressSync(`${JSON.stringify({ table, of: id })}\n{}`);
      const reply = await app.fetch(
        `/v1/restorations/frames?archive=${archive}&kind=rows&project=${id}`,
        {
          method: "POST",
          headers: { Authorization: `Bearer ${app.app.controlToken}` },
          body: new Uint8Array(frame),
        },
      );
      assertProblem(reply, 400, "invalid_body");
      assert.match(reply.body.errors[0].message, /only a move takes along/);
    }
  });
});

onFreshEngines(
  "archive: every table of the schema is archived, or is left for a reason",
  async (_t, db) => {
    await withApp(db.env, () => Promise.resolve());
    await withDatabase(db.env, async (sql) => {
      const tables = await sql.query<{ name: string }>(
        `SELECT relname AS name FROM pg_class
      WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace`,
      );
      const known = new Set([
        ...ARCHIVED_TABLES.map(({ name }) => name),
        ...LEFT_TABLES,
      ]);
      const missing = tables.map(({ name }) => name).filter((name) => !known.has(name));
      assert.deepEqual(missing, [], "say in src/archive/archived_tables.ts what becomes of them");
    });
  },
);
