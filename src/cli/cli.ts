import { parseArgs } from "node:util";
import manifest from "../../deno.json" with { type: "json" };
import {
  type Call,
  type Command,
  Interrupted,
  OptionValues,
  Printer,
  UsageMistake,
} from "./command.ts";
import { allCommands, commandsOf, FIRST_WORDS } from "./commands.ts";
import type { Failure } from "./failure.ts";
import { commandHelp, GLOBAL_OPTIONS, groupHelp, overallHelp } from "./help.ts";
import { type Misspelt, misspeltOf } from "./misspelt_variables.ts";
import { refusedOption } from "./refused_option.ts";
import { printable, type Terminal } from "./terminal.ts";
import { type Config, ConfigMistakes, readConfig, visibleVariables } from "../config/config.ts";
import { createLog } from "../http/log.ts";
import { editDistance } from "../query/nearest_values.ts";
import { asTyped, typedFootfall } from "../typed_command.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** Returns ` Did you mean …?` if a known word is similar enough, else an empty text. */
function suggestion(word: string, known: readonly string[]): string {
  const [nearest] = known
    .map((candidate) => ({ candidate, distance: editDistance(word, candidate, Infinity) }))
    .sort((a, b) => a.distance - b.distance);
  const distanceMax = Math.max(word.length < 4 ? 1 : 2, Math.floor(word.length / 3));
  return nearest === undefined || nearest.distance > distanceMax
    ? ""
    : ` Did you mean \`${nearest.candidate}\`?`;
}

type Found =
  | { readonly kind: "command"; readonly command: Command; readonly rest: readonly string[] }
  | { readonly kind: "group"; readonly group: string; readonly commands: readonly Command[] };

/** Finds the command that the first words name. Throws UsageMistake. */
export async function findCommand(args: readonly string[]): Promise<Found> {
  const [first = "", second] = args;
  const group = await commandsOf(first);
  if (group === null) {
    const what = first.startsWith("-")
      ? "The first word must be a command, not"
      : "Unknown command";
    throw new UsageMistake(
      `${what} \`${first}\`.${suggestion(first, FIRST_WORDS)} See \`footfall --help\`.`,
    );
  }
  // Names of two words first: `token revoke-all` before `token`.
  const double = group.find((command) => command.name === `${first} ${second}`);
  if (double !== undefined) return { kind: "command", command: double, rest: args.slice(2) };
  const single = group.find((command) => command.name === first);
  if (single !== undefined) return { kind: "command", command: single, rest: args.slice(1) };
  if (second === undefined || second === "--help" || second === "-h") {
    return { kind: "group", group: first, commands: group };
  }
  const names = group.map((candidate) => candidate.name.slice(first.length + 1));
  throw new UsageMistake(
    `Unknown command \`${first} ${second}\`.${suggestion(second, names)} ` +
      `There are ${names.join(", ")}.`,
  );
}

/**
 * Throws UsageMistake for an empty option or word, as a script's unset variable makes it: to treat it as not
 * given would do something else than the script means.
 */
function assertNotEmpty(
  { name, options }: Command,
  values: Readonly<Record<string, unknown>>,
  words: readonly string[],
): void {
  const empty = Object.entries(values).find(([option, value]) =>
    [value].flat().includes("") && options[option]?.mayBeEmpty !== true
  );
  if (empty !== undefined) throw new UsageMistake(`--${empty[0]} is empty: give it a value.`);
  if (words.includes("")) {
    throw new UsageMistake(`A word after \`footfall ${name}\` is empty: give it a value.`);
  }
}

const OPTION_OF_MESSAGE = /^Unknown option '(-[^']+)'/;

/** Parses the options and words of one command. Throws UsageMistake. */
export function parseCall(
  command: Command,
  args: readonly string[],
): { options: OptionValues; words: readonly string[] } {
  const specs = { ...command.options, ...GLOBAL_OPTIONS };
  const options = Object.fromEntries(
    Object.entries(specs).map(([name, { type, multiple = false }]) => [
      name,
      { type, multiple, ...(name === "help" ? { short: "h" } : {}) },
    ]),
  );
  try {
    const { values, positionals } = parseArgs({
      args: [...args],
      options,
      allowPositionals: true,
      strict: true,
    });
    const surplus = positionals[command.wordsMax];
    if (surplus !== undefined) {
      throw new UsageMistake(
        `\`footfall ${command.name}\` does not take \`${surplus}\`. Usage: ${command.usage}`,
      );
    }
    assertNotEmpty(command, values, positionals);
    return { options: new OptionValues(values), words: positionals };
  } catch (error) {
    if (error instanceof UsageMistake || !(error instanceof Error)) throw error;
    const unknown = OPTION_OF_MESSAGE.exec(error.message)?.[1];
    const help = `See \`footfall ${command.name} --help\`.`;
    if (unknown === undefined) {
      throw new UsageMistake(`${error.message.split("\n")[0]!.replace(/\.?$/, ".")} ${help}`);
    }
    const known = Object.keys(specs).map((name) => `--${name}`);
    throw new UsageMistake(`Unknown option \`${unknown}\`.${suggestion(unknown, known)} ${help}`);
  }
}

/**
 * Returns a signal that aborts at the first SIGINT or SIGTERM, so that a command can tidy up; the second one
 * ends the process. `serve` stops in its own way.
 */
function listenForStop(): { signal: AbortSignal; ignore: () => void } {
  const stop = new AbortController();
  const signals: Deno.Signal[] = Deno.build.os === "windows" ? ["SIGINT"] : ["SIGINT", "SIGTERM"];
  const listeners = signals.map((name) => {
    const listener = () => {
      if (stop.signal.aborted) Deno.exit(130);
      stop.abort(new Interrupted(name));
    };
    Deno.addSignalListener(name, listener);
    return { name, listener };
  });
  return {
    signal: stop.signal,
    ignore: () =>
      listeners.forEach(({ name, listener }) => Deno.removeSignalListener(name, listener)),
  };
}

/** Reads the configuration; with its mistakes, tells of misspelt variables, which may be why another is missing. */
function configOf(
  environment: Environment,
  terminal: Terminal,
  misspelt: readonly Misspelt[],
): Config {
  try {
    return readConfig(environment, terminal.errorIsTerminal);
  } catch (error) {
    if (!(error instanceof ConfigMistakes)) throw error;
    const told = misspelt.map(({ variable, meant }) => ({
      variable,
      message: `there is no such variable; is ${meant} meant?`,
    }));
    throw new ConfigMistakes([...error.mistakes, ...told]);
  }
}

/**
 * Makes the configuration and log of a command. Commands print what they do, so unless LOG_LEVEL is set, only
 * warnings are logged; `serve` logs everything that it is configured to.
 */
function contextOf(command: Command, environment: Environment, terminal: Terminal) {
  const misspelt = command.name === "serve" ? misspeltOf(visibleVariables()) : [];
  const config = configOf(environment, terminal, misspelt);
  const quiet = command.name !== "serve" && (environment.LOG_LEVEL ?? "") === "";
  const log = createLog({
    level: quiet ? "warn" : config.logLevel,
    format: config.logFormat,
    colour: terminal.errorIsTerminal && !environment.NO_COLOR,
    now: Date.now,
    write: (line) => {
      try {
        terminal.error(`${line}\n`);
      } catch {
        // The disk is full, or the log's reader has ended: the server and its work continue.
      }
    },
  });
  for (const { variable, meant } of misspelt) {
    log.warn("there is no such variable; is it misspelt?", { variable, meant });
  }
  return { config, log };
}

async function runCommand(
  command: Command,
  parsed: Pick<Call, "options" | "words">,
  environment: Environment,
  print: Printer,
): Promise<number> {
  if (command.name === "serve" && print.json) {
    throw new UsageMistake("`footfall serve` has no --json; LOG_FORMAT=json makes its log JSON.");
  }
  const context = contextOf(command, environment, print.terminal);
  const stop = command.name === "serve" ? null : listenForStop();
  try {
    const signal = stop?.signal ?? new AbortController().signal;
    return await command.run({ ...parsed, ...context, print, now: Date.now, signal }) ?? 0;
  } catch (error) {
    // After a request to stop, every error is its consequence.
    stop?.signal.throwIfAborted();
    throw error;
  } finally {
    stop?.ignore();
  }
}

function report(failure: Failure, print: Printer, footfall: string): void {
  const { terminal } = print;
  const { code, errors } = failure;
  const detail = asTyped(failure.detail, footfall);
  if (print.json) print.result({ error: { code, detail, errors } }, () => "");
  const lines = errors.map(({ place, message }) =>
    `  ${place === null ? "" : `${printable(place)}: `}${printable(message)}\n`
  );
  terminal.error(`footfall: ${printable(detail)}\n${lines.join("")}`);
}

/**
 * Runs the command that the arguments name.
 * @returns the exit code: 0 done, 1 failed, 2 wrong usage, 130 interrupted
 */
export async function runFootfall(
  args: readonly string[],
  environment: Environment,
  terminal: Terminal,
): Promise<number> {
  const colour = terminal.outIsTerminal && !environment.NO_COLOR;
  let place = (field: string) => field;
  const print = new Printer(terminal, args.includes("--json"), colour);
  const bold = (text: string) => print.bold(text);
  try {
    const [first] = args;
    if (first === undefined || first === "--help" || first === "-h" || first === "help") {
      terminal.out(overallHelp(await allCommands(), manifest.version, bold));
      return 0;
    }
    if (first === "--version" || first === "-V") {
      const { version } = manifest;
      print.result({ version }, () => `footfall ${version}\n`);
      return 0;
    }
    const found = await findCommand(args);
    if (found.kind === "group") {
      terminal.out(groupHelp(found.group, found.commands, bold));
      return 0;
    }
    const parsed = parseCall(found.command, found.rest);
    if (parsed.options.flag("help")) {
      terminal.out(commandHelp(found.command, bold));
      return 0;
    }
    place = (field) => refusedOption(field, found.command, parsed.options);
    return await runCommand(found.command, parsed, environment, print);
  } catch (error) {
    // The reader of the output, such as `head`, has ended: not a failure.
    if (error instanceof Deno.errors.BrokenPipe) return 0;
    // Loaded here, because it imports the errors of every command.
    const { failureOf } = await import("./failure.ts");
    const failure = failureOf(error, place);
    report(failure, print, typedFootfall(environment));
    return failure.exitCode;
  }
}
