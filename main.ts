import { processTerminal } from "./src/cli/terminal.ts";
import { readEnvironment } from "./src/config.ts";
import { runFootfall } from "./src/cli/cli.ts";

if (import.meta.main) {
  Deno.exit(await runFootfall(Deno.args, readEnvironment(), processTerminal()));
}
