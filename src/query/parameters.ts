import { PAGE_ROWS_DEFAULT, PAGE_ROWS_MAX } from "../limits.ts";
import { Problem, type ProblemPart } from "../problem.ts";
import { isStorable } from "../text_schemas.ts";

/** The most unknown or repeated parameters that a reply lists. */
const NAMES_LISTED_MAX = 10;

/** Makes a 400 of mistakes in parameters. */
function invalidParameters(
  mistakes: readonly { readonly field: string; readonly message: string }[],
): Problem {
  const errors = mistakes.map(({ field, message }): ProblemPart => ({
    field,
    code: "invalid_parameter",
    message,
  }));
  const detail = errors.map(({ field, message }) => `${field}: ${message}`).join(" ");
  return new Problem("invalid_parameter", detail, { errors });
}

/** Makes a 400 that names a parameter and says what it takes: one message for each mistake in it. */
export function invalidParameter(field: string, ...messages: readonly string[]): Problem {
  return invalidParameters(messages.map((message) => ({ field, message })));
}

/** Makes a 400 for a range that is too long, or has too many buckets; `field` is what to change. */
export function rangeTooLarge(field: string, message: string): Problem {
  const errors = [{ field, code: "range_too_large", message }];
  return new Problem("range_too_large", message, { errors });
}

/** Turns a Problem of the range that `compare` gives into one that names `compare`, with the same code. */
export function ofCompare({ code, detail }: Problem): Problem {
  const errors = [{ field: "compare", code, message: detail }];
  return new Problem(code, `compare: ${detail}`, { errors });
}

/** Makes a 400 for a `cursor` that no page returned. */
export function invalidCursor(): Problem {
  return invalidParameter("cursor", "Use the `nextCursor` of the page before, unchanged.");
}

/** Returns the text of a parameter; null where it is missing or empty, which are the same in all reads. */
export function givenText(query: URLSearchParams, name: string): string | null {
  return query.get(name) || null;
}

/** Reads a text to look up, of at most `lengthMax` characters; null where it is not given. */
export function storableText(
  query: URLSearchParams,
  name: string,
  lengthMax: number,
  usage: string,
): string | null {
  const text = givenText(query, name);
  if (text === null || text.length <= lengthMax && isStorable(text)) return text;
  throw invalidParameter(name, usage);
}

export function oneOf<T extends string>(
  query: URLSearchParams,
  name: string,
  allowed: readonly T[],
  fallback: T,
): T {
  const value = givenText(query, name);
  if (value === null) return fallback;
  const choice = allowed.find((candidate) => candidate === value);
  if (choice === undefined) throw invalidParameter(name, `Use one of ${allowed.join(", ")}.`);
  return choice;
}

/** Reads a whole number of at most six digits within bounds. */
export function readCount(
  query: URLSearchParams,
  name: string,
  { min, max, otherwise }: {
    readonly min: number;
    readonly max: number;
    readonly otherwise: number;
  },
): number {
  const text = givenText(query, name);
  if (text === null) return otherwise;
  const count = Number(text);
  if (/^\d{1,6}$/.test(text) && count >= min && count <= max) return count;
  throw invalidParameter(name, `Use a whole number from ${min} to ${max}.`);
}

/** Reads `limit`: the rows of one page. */
export function pageRows(query: URLSearchParams): number {
  return readCount(query, "limit", { min: 1, max: PAGE_ROWS_MAX, otherwise: PAGE_ROWS_DEFAULT });
}

/**
 * Refuses unknown and repeated parameters, so that a misspelt or overridden one does not silently change the
 * answer.
 */
export function refuseUnknown(query: URLSearchParams, known: readonly string[]): void {
  const unknown = new Set<string>();
  const repeated = new Set<string>();
  const given = new Set<string>();
  for (const name of query.keys()) {
    if (!known.includes(name)) unknown.add(name);
    else if (given.has(name)) repeated.add(name);
    else given.add(name);
  }
  const mistakes = [
    ...[...unknown].map((name) => ({
      field: name.slice(0, 100),
      message: `Unknown. This read takes ${known.join(", ")}.`,
    })),
    ...[...repeated].map((field) => ({ field, message: "Given more than once." })),
  ];
  if (mistakes.length > 0) throw invalidParameters(mistakes.slice(0, NAMES_LISTED_MAX));
}

type Readers = Readonly<Record<string, () => unknown>>;

/**
 * Calls every reader, and returns their results by name. Where several throw a Problem, throws one that lists
 * the errors of all of them, with their code if it is the same, else `invalid_parameter`.
 */
export function readAll<T extends Readers>(readers: T): { [K in keyof T]: ReturnType<T[K]> } {
  const read: Record<string, unknown> = {};
  const faults: Problem[] = [];
  for (const [name, reader] of Object.entries(readers)) {
    try {
      read[name] = reader();
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      faults.push(error);
    }
  }
  const [first] = faults;
  if (first === undefined) return read as { [K in keyof T]: ReturnType<T[K]> };
  const other = faults.find(({ code }) => code !== "invalid_parameter");
  const only = faults.length === 1 ? first : undefined;
  const errors = faults.flatMap((fault) => fault.options.errors ?? []);
  const code = faults.every((fault) => fault.code === first.code)
    ? first.code
    : "invalid_parameter";
  throw only ?? (errors.length === 0 ? other : undefined) ??
    new Problem(code, faults.map(({ detail }) => detail).join(" "), { errors });
}
