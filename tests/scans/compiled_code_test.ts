import assert from "node:assert/strict";

/** Returns what V8 traced of the function that a scan worker compiles. */
async function tracedLines(worker: "" | "unprepared"): Promise<string[]> {
  const program = new URL("./summing_program.ts", import.meta.url).href;
  const { success, stdout } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--quiet", "--v8-flags=--trace-opt,--trace-deopt", program, worker],
    env: { NO_COLOR: "1" },
    stderr: "inherit",
  }).output();
  assert.ok(success);
  const lines = new TextDecoder().decode(stdout).split("\n")
    .filter((line) => line.includes("sumOfNumbers"));
  assert.ok(lines.some((line) => line.includes("completed compiling")));
  return lines;
}

/** Whether V8 discards code since an assumption that it was compiled with no longer holds. */
const isDiscarded = (line: string) => line.includes("dependent") && line.includes("deoptimization");

Deno.test("scan worker: what it has compiled stays as it sends a list for the first time", async () => {
  assert.deepEqual((await tracedLines("")).filter(isDiscarded), []);
  // Else the words that are looked for are no longer V8's.
  assert.ok((await tracedLines("unprepared")).some(isDiscarded));
});
