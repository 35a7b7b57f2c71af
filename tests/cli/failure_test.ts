import assert from "node:assert/strict";
import { failureOf } from "../../src/cli/failure.ts";
import { OptionValues } from "../../src/cli/command.ts";
import { refusedOption } from "../../src/cli/refused_option.ts";
import { refusal } from "../../src/db/refusal.ts";

Deno.test("failureOf: a database that refuses is not reported as one that does not answer", () => {
  const password = failureOf(refusal(`password authentication failed for user "a"`, "28P01"));
  assert.equal(password.code, "database_unavailable");
  assert.match(password.detail, /^The database cannot serve now: password authentication failed/);
  assert.match(password.detail, /DATABASE_URL names it with its user and password/);
  const full = failureOf(refusal("could not extend file", "53100"));
  assert.equal(full.detail, "The database's disk is full: could not extend file.");
});

Deno.test("refusedOption: a member of the API is told as the option that it was made of", () => {
  const spec = { type: "string", meaning: "" } as const;
  const options = {
    device: spec,
    ttl: { ...spec, of: "ttlSeconds" },
    "expires-at": spec,
    "allowed-origin": spec,
    filters: spec,
  };
  const values = new OptionValues({
    device: ["mobile", "phone"],
    "allowed-origin": ["", "ftp://a"],
  });
  const told = (field: string) => refusedOption(field, { options }, values);
  assert.equal(told("devices.1"), "--device phone");
  assert.equal(told("devices"), "--device");
  assert.equal(told("devices.9"), "--device");
  assert.equal(told("allowedOrigins.0"), "--allowed-origin ftp://a");
  assert.equal(told("ttlSeconds"), "--ttl");
  assert.equal(told("expiresAt"), "--expires-at");
  assert.equal(told("filters"), "--filters");
  const ofTtl = { options: { ttl: { ...spec, of: "expiresAt" }, "expires-at": spec } };
  assert.equal(refusedOption("expiresAt", ofTtl, new OptionValues({ ttl: "4000d" })), "--ttl");
  assert.equal(told("password"), "password");
  assert.equal(told("constructor"), "constructor");
});
