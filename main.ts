import { processTerminal } from "./src/commands/terminal.ts";
import { readEnvironment } from "./src/config.ts";
import { runFootfall } from "./src/cli.ts";

if (import.meta.main) {
  Deno.exit(await runFootfall(Deno.args, readEnvironment(), processTerminal()));
}
