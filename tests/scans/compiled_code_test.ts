import assert from "node:assert/strict";

Deno.test("scan worker: what it has compiled stays as it sends a list for the first time", async () => {
  const program = new URL("./summing_program.ts", import.meta.url).href;
  const { success, stdout } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--quiet", "--v8-flags=--trace-opt,--trace-deopt", program],
    env: { NO_COLOR: "1" },
    stderr: "inherit",
  }).output();
  assert.ok(success);
  const lines = new TextDecoder().decode(stdout).split("\n")
    .filter((line) => line.includes("sumOfNumbers"));
  assert.ok(lines.some((line) => line.startsWith("[completed compiling")));
  assert.deepEqual(lines.filter((line) => line.startsWith("[marking dependent code")), []);
});
