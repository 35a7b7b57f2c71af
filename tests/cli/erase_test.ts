import assert from "node:assert/strict";
import { makeDataDir } from "../support/embedded_template.ts";
import { run } from "./footfall_process.ts";

function event(members: Record<string, string>): string {
  const at = { timestamp: "2026-06-01T08:00:00Z", name: "page_view" };
  return JSON.stringify({ eventId: crypto.randomUUID(), ...at, ...members });
}

const HISTORY = [
  event({ anonymousId: "phone" }),
  event({ anonymousId: "phone", userId: "user/42" }),
  event({ anonymousId: "once" }),
  event({ anonymousId: "another" }),
].join("\n");

async function exportedIds(dataDir: string): Promise<string[]> {
  const { out } = await run(dataDir, ["export"]);
  return out.trimEnd().split("\n").map((line) => JSON.parse(line).anonymousId).sort();
}

Deno.test("erase: needs --yes, reports what it erased, and leaves other people", async () => {
  const dataDir = await makeDataDir("footfall-erase-");
  try {
    const imported = await run(dataDir, ["import", "-"], HISTORY);
    assert.equal(imported.code, 0, imported.errors);

    const unsure = await run(dataDir, ["erase", "user/42"]);
    assert.equal(unsure.code, 2);
    assert.match(unsure.errors, /all that is stored of user\/42 for good: say --yes/);
    assert.equal((await run(dataDir, ["erase", "--yes"])).code, 2, "somebody must be named");
    assert.equal((await exportedIds(dataDir)).length, 4);

    const erased = await run(dataDir, ["erase", "user/42", "--yes", "--json"]);
    assert.equal(erased.code, 0, erased.errors);
    const told = { erased: { events: 2, identities: ["user/42", "phone"] } };
    assert.deepEqual(JSON.parse(erased.out), told);
    assert.deepEqual(await exportedIds(dataDir), ["another", "once"]);

    const again = await run(dataDir, ["erase", "user/42", "--yes"]);
    assert.deepEqual([again.code, again.out], [1, ""]);
    assert.match(again.errors, /Nothing is stored of this actor/);

    const project = ["--project", "prj_default"];
    const once = await run(dataDir, ["erase", "once", "--yes", ...project]);
    assert.deepEqual([once.code, once.out], [0, "Erased 1 event and the id once.\n"]);
    assert.deepEqual(await exportedIds(dataDir), ["another"]);
  } finally {
    await Deno.remove(dataDir, { recursive: true });
  }
});
