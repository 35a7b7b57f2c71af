import assert from "node:assert/strict";
import { personName } from "../../src/dashboard/person_link.tsx";

Deno.test("people: those whose ids were made in the same minute are told apart", () => {
  const first = "01890c5a-7c3b-7d1e-9f42-5b6c7d8e9f01";
  const second = "01890c5a-7c3c-7a02-8b11-0d1e2f3a4b5c";
  assert.equal(personName(first, null), "01…8e9f01");
  assert.equal(personName(second, null), "01…3a4b5c");
});

Deno.test("people: short ids are told whole, users always, and no character is halved", () => {
  assert.equal(personName("device-12", null), "device-12");
  assert.equal(personName("🎉".repeat(13), null), "🎉🎉…🎉🎉🎉🎉🎉🎉");
  const user = "somebody.with.a.long.address@example.com";
  assert.equal(personName(user, user), user);
});
