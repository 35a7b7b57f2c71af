import { CONFIG_VARIABLES } from "../config/config_variables.ts";
import type { Command, OptionSpec } from "./command.ts";

type Bold = (text: string) => string;

export const GLOBAL_OPTIONS: Readonly<Record<string, OptionSpec>> = {
  json: { type: "boolean", meaning: "print one JSON document and nothing else" },
  help: { type: "boolean", meaning: "show this help" },
};

/** Returns rows of two columns, the left one as wide as its widest entry. */
function columns(rows: readonly (readonly [string, string])[]): string {
  const width = Math.max(0, ...rows.map(([left]) => left.length));
  return rows.map(([left, right]) => `  ${left.padEnd(width)}  ${right}\n`).join("");
}

const withDefault = (meaning: string, value: string | undefined) =>
  value === undefined || value === "" ? meaning : `${meaning} (default: ${value})`;

/** Returns the text of `footfall --help`: all commands and environment variables. */
export function overallHelp(commands: readonly Command[], version: string, bold: Bold): string {
  const list = columns(commands.map(({ name, summary }) => [name, summary] as const));
  const variables = columns(
    CONFIG_VARIABLES.map((variable) =>
      [variable.name, withDefault(variable.meaning, variable.default)] as const
    ),
  );
  return `Footfall ${version}: product analytics in one program.

${bold("Usage")}
  footfall <command> [options]
  footfall <command> --help

${bold("Commands")}
${list}
${bold("Options")}
${
    columns([
      ["--json", `${GLOBAL_OPTIONS.json!.meaning} (every command but serve)`],
      ["-h, --help", GLOBAL_OPTIONS.help!.meaning],
      ["-V, --version", "show the version"],
    ])
  }
${bold("Environment")}
${variables}
Exit codes: 0 done, 1 failed, 2 wrong usage, 130 interrupted.
`;
}

/** Returns the text of `footfall project`: the commands that share a first word. */
export function groupHelp(group: string, commands: readonly Command[], bold: Bold): string {
  const list = columns(commands.map(({ name, summary }) => [name, summary] as const));
  return `${bold("Usage")}\n  footfall ${group} <command> [options]\n\n${
    bold("Commands")
  }\n${list}`;
}

/** Returns the text of `footfall <command> --help`. */
export function commandHelp(command: Command, bold: Bold): string {
  const general = Object.entries(GLOBAL_OPTIONS)
    .filter(([name]) => name !== "json" || command.name !== "serve");
  const rows = [...Object.entries(command.options), ...general].map(([name, spec]) => {
    const placeholder = spec.placeholder === undefined ? "" : ` ${spec.placeholder}`;
    return [`--${name}${placeholder}`, withDefault(spec.meaning, spec.default)] as const;
  });
  const notes = command.notes === undefined ? "" : `\n${command.notes}\n`;
  return `${command.summary}.\n${notes}\n${bold("Usage")}\n  ${command.usage}\n\n${
    bold("Options")
  }\n${columns(rows)}\n${bold("Example")}\n  ${command.example}\n`;
}
