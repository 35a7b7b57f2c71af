import assert from "node:assert/strict";
import { EventShown } from "../../src/event_file/exported_event_schema.ts";

/** Every member of an exported line, those of its members too. */
function* namesIn(schema: unknown): Generator<string> {
  const { shape, def } = schema as {
    shape?: Record<string, unknown>;
    def?: { innerType?: unknown };
  };
  if (def?.innerType !== undefined) yield* namesIn(def.innerType);
  for (const [name, member] of Object.entries(shape ?? {})) {
    yield name;
    yield* namesIn(member);
  }
}

Deno.test("the manual names every member of an exported line", async () => {
  const page = await Deno.readTextFile(new URL("../../docs/exports.md", import.meta.url));
  const names = new Set(namesIn(EventShown));
  // Of a size, which everybody knows.
  for (const known of ["width", "height"]) names.delete(known);
  assert.ok(names.size > 35, `${names.size} members`);
  assert.deepEqual([...names].filter((name) => !page.includes(`\`${name}\``)), []);
});
