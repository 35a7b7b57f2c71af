import { LOG_FACT_LENGTH_MAX } from "../limits.ts";

/**
 * Structured logs: one line per entry on standard error, as JSON or readable text.
 * Callers pass named facts and never pass keys, tokens, bodies, page paths or ids of people. Messages of
 * other programs may still contain some; this file removes what it can recognise.
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

/** Control characters, which must not reach a terminal or forge a line. */
const CONTROL = /\p{Cc}/gu;

/** Keys, tokens and mail addresses. Each repetition is bounded, so that matching is fast on any text. */
const SECRETS =
  /\b[ps]k_[\w-]{1,200}|\bcontrol_\w{1,100}|\beyJ[\w-]{1,4000}(?:\.[\w-]{1,4000}){0,2}|[\w.+%-]{1,64}@[\w-]{1,63}\.[\w.-]{1,200}/g;

function discreet(value: Facts[string]): Facts[string] {
  if (typeof value !== "string") return value;
  const text = value.length > LOG_FACT_LENGTH_MAX
    ? `${value.slice(0, LOG_FACT_LENGTH_MAX)}…`
    : value;
  return text.replace(SECRETS, "[left out]");
}

function pretty(level: LogLevel, at: string, message: string, facts: Facts, colour: boolean) {
  const shown = Object.entries(facts).filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${name}=${String(value).replace(CONTROL, " ")}`).join(" ");
  const word = colour ? `${COLOUR[level]}${level}\x1b[0m` : level;
  return `${at.slice(11, 19)} ${word} ${message}${shown === "" ? "" : ` ${shown}`}`;
}

export function createLog(options: {
  readonly level: LogLevel;
  readonly format: LogFormat;
  readonly colour: boolean;
  readonly now: () => number;
  readonly write: (line: string) => void;
}): Log {
  const line = (level: LogLevel) => (message: string, given: Facts = {}) => {
    if (RANK[level] < RANK[options.level]) return;
    const facts = Object.fromEntries(
      Object.entries(given).map(([name, value]) => [name, discreet(value)]),
    );
    const at = new Date(options.now()).toISOString();
    options.write(
      options.format === "json"
        ? JSON.stringify({ time: at, level, message, ...facts })
        : pretty(level, at, message, facts, options.colour),
    );
  };
  return { debug: line("debug"), info: line("info"), warn: line("warn"), error: line("error") };
}
