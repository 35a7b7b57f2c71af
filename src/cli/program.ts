import { runFootfall } from "./cli.ts";
import { processTerminal } from "./terminal.ts";

/** Runs the command that the arguments name, on the process's own terminal. @returns the exit code */
export function runProgram(
  args: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
): Promise<number> {
  return runFootfall(args, environment, processTerminal());
}
