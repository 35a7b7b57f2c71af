import assert from "node:assert/strict";
import { ApiProblem } from "../../src/dashboard/api_problem.ts";

Deno.test("a refusal is told once: what no field shows is the rest, with its place", () => {
  const part = (field: string, message: string) => ({ field, code: "invalid_value", message });
  const problem = new ApiProblem(400, "invalid_body", "Correct what `errors` lists: to.0, to.1.", [
    part("to.0", "Give an address."),
    part("to.1", "Give an address."),
    part("toast", "Remove it."),
  ]);
  assert.equal(problem.messageFor("title"), null);
  assert.equal(problem.messageFor("to"), "Entry 1: Give an address. Entry 2: Give an address.");
  assert.equal(problem.rest, "toast: Remove it.");
  assert.equal(problem.messageFor("toast"), "Remove it.");
  assert.equal(problem.rest, null);
  const last = new ApiProblem(409, "last_owner", "One owner stays.");
  assert.equal(last.rest, "One owner stays.");
});

Deno.test("an outage, after which the page reads by itself, is what the server recovers from by itself", () => {
  const isOutage = (code: string) => new ApiProblem(503, code, "Try again.").isOutage;
  for (const code of ["unreachable", "shutting_down", "database_unavailable", "moving"]) {
    assert.ok(isOutage(code), code);
  }
  // Another read may be too much again, and a server that has moved does not come back.
  for (const code of ["read_timeout", "overloaded", "moved", "not_found"]) {
    assert.ok(!isOutage(code), code);
  }
});
