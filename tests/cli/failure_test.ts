import assert from "node:assert/strict";
import { failureOf } from "../../src/cli/failure.ts";
import { refusal } from "../../src/db/refusal.ts";

Deno.test("failureOf: a database that refuses is not reported as one that does not answer", () => {
  const password = failureOf(refusal(`password authentication failed for user "a"`, "28P01"));
  assert.equal(password.code, "database_unavailable");
  assert.match(password.detail, /^The database cannot serve now: password authentication failed/);
  assert.match(password.detail, /DATABASE_URL names it with its user and password/);
  const full = failureOf(refusal("could not extend file", "53100"));
  assert.equal(full.detail, "The database's disk is full: could not extend file.");
});
