import assert from "node:assert/strict";
import { API_KEY_LENGTH_MAX } from "../../src/limits.ts";
import { Problem } from "../../src/problem.ts";
import { onBothEngines } from "../support/databases.ts";
import { authServer, openMigrated } from "./auth_server.ts";

const KEYS = "/v1/projects/prj_shop/keys";

function refused(code: string) {
  return (error: unknown) => error instanceof Problem && error.code === code;
}

onBothEngines("keys: created, listed without the secret, rotated, revoked", async (_, db) => {
  const server = authServer(await openMigrated(db));
  const admin = await server.grant();
  await server.call("POST", "/v1/projects", admin, { id: "prj_shop", name: "Shop" });
  await server.call("POST", "/v1/projects", admin, { id: "prj_other", name: "Other" });

  const expiresAt = new Date(Date.now() + 3_600_000).toISOString();
  const wanted = { kind: "secret", label: "Backend", expiresAt };
  const made = await server.call("POST", KEYS, admin, wanted);
  assert.equal(made.status, 201);
  assert.equal(made.headers.get("location"), `${KEYS}/${made.body.id}`);
  assert.equal(made.headers.get("cache-control"), "no-store");
  const { key, ...shown } = made.body;
  assert.match(key, /^sk_/);
  assert.deepEqual({ ...shown, id: "", hint: "", createdAt: "" }, {
    ...{ id: "", hint: "", createdAt: "" },
    ...wanted,
    revokedAt: null,
    status: "active",
  });
  assert.equal((await server.keys.authenticate(key)).kind, "secret");

  const rotated = await server.call("POST", `${KEYS}/${made.body.id}/rotate`, admin);
  assert.equal(rotated.status, 201);
  assert.equal(rotated.headers.get("location"), `${KEYS}/${rotated.body.id}`);
  assert.deepEqual([rotated.body.kind, rotated.body.label], ["secret", "Backend"]);
  await server.keys.authenticate(key);
  await server.keys.authenticate(rotated.body.key);

  const list = await server.call("GET", KEYS, admin);
  assert.deepEqual(list.body.keys.map((k: { id: string }) => k.id), [shown.id, rotated.body.id]);
  assert.deepEqual(list.body.keys[0], { ...shown, key: null }, "an earlier expiry stays");
  const text = JSON.stringify(list.body);
  for (const secret of [key, rotated.body.key]) assert.ok(!text.includes(secret.slice(3, -4)));

  const elsewhere = `/v1/projects/prj_other/keys/${shown.id}`;
  assert.equal((await server.call("DELETE", elsewhere, admin)).status, 404);
  for (let again = 0; again < 2; again++) {
    const gone = await server.call("DELETE", `${KEYS}/${shown.id}`, admin);
    assert.deepEqual([gone.status, gone.body], [204, null]);
  }
  await assert.rejects(server.keys.authenticate(key), refused("revoked_api_key"));
  const late = await server.call("POST", `${KEYS}/${shown.id}/rotate`, admin, {});
  assert.deepEqual([late.status, late.body.code], [409, "conflict"]);

  const next = `${KEYS}/${rotated.body.id}/rotate`;
  await server.call("POST", next, admin, { overlapSeconds: 0 });
  await assert.rejects(server.keys.authenticate(rotated.body.key), refused("expired_api_key"));
  assert.equal((await server.call("DELETE", `${KEYS}/key_%00`, admin)).status, 404);
});

onBothEngines("keys: invalid bodies are refused by member, and make nothing", async (_, db) => {
  const server = authServer(await openMigrated(db));
  const admin = await server.grant();
  await server.call("POST", "/v1/projects", admin, { id: "prj_shop", name: "Shop" });
  const wrong: [Record<string, unknown>, string][] = [
    [{}, "kind"],
    [{ kind: "master" }, "kind"],
    [{ kind: "public", key: "pk_mine_mine" }, "key"],
    [{ kind: "public", label: "a\u0007b" }, "label"],
    [{ kind: "public", expiresAt: "tomorrow" }, "expiresAt"],
    [{ kind: "public", expiresAt: "2026-01-01T00:00:00Z" }, "expiresAt"],
    [{ kind: "public", value: "" }, "value"],
    [{ kind: "public", value: " blank" }, "value"],
    [{ kind: "public", value: "blank " }, "value"],
    [{ kind: "public", value: "schlüssel" }, "value"],
    [{ kind: "public", value: "a\nb" }, "value"],
    [{ kind: "public", value: "a\u007fb" }, "value"],
    [{ kind: "secret", value: "x".repeat(API_KEY_LENGTH_MAX + 1) }, "value"],
    [{ kind: "secret", value: 5 }, "value"],
  ];
  for (const [body, field] of wrong) {
    const answer = await server.call("POST", KEYS, admin, body);
    assert.deepEqual([answer.status, answer.body.code], [400, "invalid_body"]);
    assert.deepEqual(answer.body.errors.map((part: { field: string }) => part.field), [field]);
  }
  for (const overlapSeconds of [-1, 0.5, "60", 1e12]) {
    const answer = await server.call("POST", `${KEYS}/key_1/rotate`, admin, { overlapSeconds });
    assert.equal(answer.body.errors[0].field, "overlapSeconds");
  }
  assert.deepEqual((await server.call("GET", KEYS, admin)).body, { keys: [] });
});

onBothEngines("keys: those of another system are adopted as they are, each once", async (_, db) => {
  const database = await openMigrated(db);
  const server = authServer(database);
  const admin = await server.grant();
  for (const id of ["prj_shop", "prj_other"]) {
    await server.call("POST", "/v1/projects", admin, { id, name: id });
  }
  const adopted: [string, string, string][] = [
    ["public", "x", ""],
    ["public", "6a7f4b1e-3c2d-4e5f-8a9b-0c1d2e3f4a5b", "4a5b"],
    ["public", "sk_ is only a prefix", "efix"],
    ["secret", "phc_0123456", "56"],
    ["secret", "~".repeat(API_KEY_LENGTH_MAX), "~~~~"],
  ];
  for (const [kind, value, hint] of adopted) {
    const { status, body } = await server.call("POST", KEYS, admin, { kind, value });
    assert.deepEqual([status, body.key, body.kind, body.hint], [201, value, kind, hint]);
    const known = await server.keys.authenticate(value);
    assert.deepEqual([known.kind, known.projectPublicId], [kind, "prj_shop"]);
    for (const path of [KEYS, "/v1/projects/prj_other/keys"]) {
      const again = await server.call("POST", path, admin, { kind: "public", value });
      assert.deepEqual([again.status, again.body.code], [409, "conflict"]);
    }
  }
  const list = await server.call("GET", KEYS, admin);
  assert.deepEqual(
    list.body.keys.map(({ key }: { key: string | null }) => key).toSorted(),
    [...adopted.map(([kind, value]) => kind === "public" ? value : null)].toSorted(),
  );
  const entries = await database.query<{ subject: string }>(
    "SELECT subject FROM audit WHERE what = 'key.create' ORDER BY subject",
  );
  assert.equal(entries.length, adopted.length);
  for (const { subject } of entries) assert.match(subject, /, adopted$/);
});
