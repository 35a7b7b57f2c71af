import { basename } from "node:path";

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * How the one who started this process runs Deno: `deno`, or `npx --yes deno` where npm did it and
 * there may be no other Deno.
 */
export function typedDeno(environment: Environment): string {
  return (environment.npm_lifecycle_event ?? "") === "" ? "deno" : "npx --yes deno";
}

/** What they type in front of `token --link`, `seed` and so on. */
export function typedFootfall(environment: Environment): string {
  return Deno.build.standalone
    ? basename(Deno.execPath())
    : `${typedDeno(environment)} task footfall`;
}

const AS_IT_IS = /^[\w@%+:,./-]+$/;

/** How a shell is told a variable, in front of a command. */
export function typedVariable(name: string, value: string): string {
  return `${name}=${AS_IT_IS.test(value) ? value : `'${value.replaceAll("'", "'\\''")}'`}`;
}

/** The commands of ours that a text names in backticks, as they are typed. */
export function asTyped(text: string, footfall: string): string {
  return text.replaceAll("`footfall ", `\`${footfall} `);
}
