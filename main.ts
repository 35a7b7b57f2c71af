import { beginStart } from "./src/cli/early_start.ts";
import { readEnvironment } from "./src/config/environment.ts";

if (import.meta.main) {
  const environment = readEnvironment();
  beginStart(Deno.args, environment.DATABASE_URL);
  const { runProgram } = await import("./src/cli/program.ts");
  Deno.exit(await runProgram(Deno.args, environment));
}
