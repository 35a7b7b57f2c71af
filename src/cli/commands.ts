import type { Command } from "./command.ts";

type Load = () => Promise<readonly Command[]>;

/**
 * Loads the commands that begin with a word; the words are in the order of the help. A run loads only the
 * commands of its own word: a server opens its database before the files of other commands would be loaded.
 */
const LOADERS: ReadonlyMap<string, Load> = new Map<string, Load>([
  ["serve", async () => [(await import("./serve.ts")).SERVE_COMMAND]],
  ["migrate", async () => [(await import("./operation.ts")).MIGRATE_COMMAND]],
  ["openapi", async () => [(await import("./operation.ts")).OPENAPI_COMMAND]],
  ["project", async () => (await import("./project.ts")).PROJECT_COMMANDS],
  ["key", async () => (await import("./key.ts")).KEY_COMMANDS],
  ["person", async () => (await import("./person.ts")).PERSON_COMMANDS],
  ["token", async () => [
    ...(await import("./token.ts")).TOKEN_COMMANDS,
    ...(await import("./api_token.ts")).API_TOKEN_COMMANDS,
  ]],
  ["capture", async () => [(await import("./capture.ts")).CAPTURE_COMMAND]],
  ["seed", async () => [(await import("./seed.ts")).SEED_COMMAND]],
  ["demo", async () => [(await import("./demo.ts")).DEMO_COMMAND]],
  ["export", async () => [(await import("./export.ts")).EXPORT_COMMAND]],
  ["import", async () => [(await import("./import.ts")).IMPORT_COMMAND]],
  ["archive", async () => [(await import("./archive.ts")).ARCHIVE_COMMAND]],
  ["restore", async () => [(await import("./restore.ts")).RESTORE_COMMAND]],
  ["move", async () => [(await import("./move.ts")).MOVE_COMMAND]],
  ["erase", async () => [(await import("./erase.ts")).ERASE_COMMAND]],
]);

/** The first words of all commands. */
export const FIRST_WORDS: readonly string[] = [...LOADERS.keys()];

/** Returns the commands that begin with a word; null: there are none. */
export async function commandsOf(firstWord: string): Promise<readonly Command[] | null> {
  return await LOADERS.get(firstWord)?.() ?? null;
}

/** Returns all commands, in the order of the help. */
export async function allCommands(): Promise<readonly Command[]> {
  return (await Promise.all([...LOADERS.values()].map((load) => load()))).flat();
}
