import manifest from "../../deno.json" with { type: "json" };

/**
 * How tests run the program as a process: with the flags of `deno task start`. Without them V8 compiles the
 * embedded engine a second time, in all of a process's threads, which is up to half of what a command takes.
 */
export const RUN_PROGRAM: readonly string[] = [
  ...["run", "--quiet", "-P=serve"],
  ...manifest.tasks.start.command.split(" ")
    .filter((part) => part.startsWith("--unstable-") || part.startsWith("--v8-flags=")),
];
