/**
 * Structured logs: one line each on standard error, JSON or readable.
 * Callers pass named facts; no key, token or body is ever among them.
 */
export type LogLevel = "debug" | "info" | "warn" | "error";
export type LogFormat = "pretty" | "json";
export type Facts = Readonly<Record<string, string | number | boolean | null | undefined>>;

export interface Log {
  debug(message: string, facts?: Facts): void;
  info(message: string, facts?: Facts): void;
  warn(message: string, facts?: Facts): void;
  error(message: string, facts?: Facts): void;
}

const RANK: Record<LogLevel, number> = { debug: 0, info: 1, warn: 2, error: 3 };
const COLOUR: Record<LogLevel, string> = {
  debug: "\x1b[2m",
  info: "\x1b[36m",
  warn: "\x1b[33m",
  error: "\x1b[31m",
};

/** Control characters of a fact must not reach a terminal or forge a line. */
// deno-lint-ignore no-control-regex
const CONTROL = /[\u0000-\u001f\u007f-\u009f]/g;

function pretty(level: LogLevel, at: string, message: string, facts: Facts, colour: boolean) {
  const told = Object.entries(facts).filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${name}=${String(value).replace(CONTROL, " ")}`).join(" ");
  const word = colour ? `${COLOUR[level]}${level}\x1b[0m` : level;
  return `${at.slice(11, 19)} ${word} ${message}${told === "" ? "" : ` ${told}`}`;
}

export function createLog(options: {
  readonly level: LogLevel;
  readonly format: LogFormat;
  readonly colour: boolean;
  readonly now: () => number;
  readonly write: (line: string) => void;
}): Log {
  const line = (level: LogLevel) => (message: string, facts: Facts = {}) => {
    if (RANK[level] < RANK[options.level]) return;
    const at = new Date(options.now()).toISOString();
    options.write(
      options.format === "json"
        ? JSON.stringify({ time: at, level, message, ...facts })
        : pretty(level, at, message, facts, options.colour),
    );
  };
  return { debug: line("debug"), info: line("info"), warn: line("warn"), error: line("error") };
}
