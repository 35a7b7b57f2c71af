import { basename } from "node:path";

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Returns how whoever started this process runs Deno: `deno`, or `npx --yes deno` if npm started it, as there
 * may be no other Deno.
 */
export function typedDeno(environment: Environment): string {
  return (environment.npm_lifecycle_event ?? "") === "" ? "deno" : "npx --yes deno";
}

/** Returns what they type in front of `token --link`, `seed` and so on. */
export function typedFootfall(environment: Environment): string {
  return Deno.build.standalone
    ? basename(Deno.execPath())
    : `${typedDeno(environment)} task footfall`;
}

const NEEDS_NO_QUOTES = /^[\w@%+:,./-]+$/;

/** Returns the assignment of a variable, as a shell takes it in front of a command. */
export function typedVariable(name: string, value: string): string {
  return `${name}=${NEEDS_NO_QUOTES.test(value) ? value : `'${value.replaceAll("'", "'\\''")}'`}`;
}

/** Returns a text in which each `footfall` command in backticks is written as it is typed here. */
export function asTyped(text: string, footfall: string): string {
  return text.replaceAll("`footfall ", `\`${footfall} `);
}
