import { CONFIG_VARIABLES } from "./config_variables.ts";

/** Reads the environment variables that Footfall knows; only this file reads the environment. */
export function readEnvironment(): Record<string, string | undefined> {
  const names: string[] = CONFIG_VARIABLES.map((variable) => variable.name);
  return Object.fromEntries(
    [...names, "NO_COLOR", "npm_lifecycle_event"].map((name) => [name, Deno.env.get(name)]),
  );
}

/**
 * Returns the names of the variables that are set and not blank: of all if the whole environment may be read, else of
 * known ones.
 */
export function namesSet(mayReadAll: boolean): string[] {
  const names = mayReadAll
    ? Object.keys(Deno.env.toObject())
    : CONFIG_VARIABLES.map(({ name }) => name);
  return names.filter((name) => Deno.env.get(name)?.trim());
}
