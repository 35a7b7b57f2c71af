import type { Config } from "../config/config.ts";
import type { Log } from "../http/log.ts";
import { tableText, type Terminal } from "./terminal.ts";

/** One option of a command, for `--help` and for the parser. */
export interface OptionSpec {
  readonly type: "string" | "boolean";
  readonly multiple?: true;
  /** An empty value has a meaning, such as removing a setting. */
  readonly mayBeEmpty?: true;
  /** The placeholder of the value in the help, e.g. `ID`. */
  readonly placeholder?: string;
  /** The member of the API that is made of it, where the name does not say so. */
  readonly of?: string;
  /** For the help only; the command itself applies the default. */
  readonly default?: string;
  readonly meaning: string;
}

export interface Command {
  /** One or two words, e.g. `project list`. */
  readonly name: string;
  readonly summary: string;
  readonly usage: string;
  /** Further explanations, shown in the command's own help. */
  readonly notes?: string;
  /** How many words may follow the name. */
  readonly wordsMax: number;
  readonly options: Readonly<Record<string, OptionSpec>>;
  readonly example: string;
  /** @returns the exit code; undefined: 0 */
  readonly run: (call: Call) => Promise<number | void>;
}

/** The command line is wrong: exit code 2. The message says what to type. */
export class UsageMistake extends Error {
  override readonly name = "UsageMistake";
}

/** The user has asked the command to stop. */
export class Interrupted extends Error {
  override readonly name = "Interrupted";
  constructor(signal: Deno.Signal) {
    super(`Stopped by ${signal}.`);
  }
}

/** One run of a command. */
export interface Call {
  readonly options: OptionValues;
  /** The arguments after the command's name that are not options. */
  readonly words: readonly string[];
  readonly config: Config;
  readonly log: Log;
  readonly print: Printer;
  readonly now: () => number;
  /** Aborted when the user asks to stop: the command must then end soon, and leave nothing half done. */
  readonly signal: AbortSignal;
}

type Value = string | boolean | readonly (string | boolean)[] | undefined;

/** The parsed options of a call, by name. */
export class OptionValues {
  constructor(readonly values: Readonly<Record<string, Value>>) {}

  text(name: string): string | null {
    const value = this.values[name];
    return typeof value === "string" ? value : null;
  }

  list(name: string): string[] | null {
    const value = this.values[name];
    return Array.isArray(value) ? value.map(String) : null;
  }

  flag(name: string): boolean {
    return this.values[name] === true;
  }

  /** Reads a whole number; null: not given. Throws UsageMistake for another text or one out of bounds. */
  integer(name: string, min: number, max: number): number | null {
    const value = this.text(name);
    if (value === null) return null;
    const number = Number(value);
    if (!/^\d+$/.test(value) || number < min || number > max) {
      throw new UsageMistake(`--${name} must be a whole number from ${min} to ${max}.`);
    }
    return number;
  }
}

/** Prints the output of a command: one JSON document for scripts, or text for people. */
export class Printer {
  constructor(
    readonly terminal: Terminal,
    readonly json: boolean,
    readonly colour: boolean,
  ) {}

  /** Prints the command's result: `document` with `--json`, else `text()`. */
  result(document: unknown, text: () => string): void {
    this.terminal.out(this.json ? `${JSON.stringify(document, null, 2)}\n` : text());
  }

  table(headings: readonly string[], rows: readonly (readonly (string | number | null)[])[]) {
    return tableText(headings, rows, (text) => this.bold(text));
  }

  bold(text: string): string {
    return this.colour ? `\x1b[1m${text}\x1b[0m` : text;
  }

  /** Prints a remark on standard error; nothing with `--json`. */
  remark(text: string): void {
    if (!this.json) this.terminal.error(`${text}\n`);
  }
}

export const PROJECT_OPTION: OptionSpec = {
  type: "string",
  placeholder: "ID",
  default: "the only project, or DEFAULT_PROJECT_ID",
  meaning: "project that is meant",
};

/** `--project` of commands whose result is valid for several projects, or for all. */
export const PROJECTS_OPTION: OptionSpec = {
  type: "string",
  multiple: true,
  placeholder: "ID",
  default: "every project",
  meaning: "project that may be seen; may be repeated",
};
