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

/** The commands of ours that a text names in backticks, as they are typed. */
export function asTyped(text: string, footfall: string): string {
  return text.replaceAll("`footfall ", `\`${footfall} `);
}
