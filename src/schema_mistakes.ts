/** Messages for values that a schema refuses: each says what to send instead. */
import type { z } from "zod";
import { counted } from "./number_words.ts";

/** What a schema expects, by Zod's names; other names are shown as they are. */
const EXPECTED: Readonly<Record<string, string>> = {
  string: "text",
  number: "a number",
  int: "a whole number",
  boolean: "true or false",
  array: "a list",
  object: "an object",
  record: "an object",
};
/** Formats of texts, by Zod's names. */
const FORMS: Readonly<Record<string, string>> = {
  datetime: "a time such as 2030-01-01T00:00:00Z",
  date: "a date such as 2030-01-01",
  email: "an e-mail address",
  url: "an address such as https://example.com",
  uuid: "a UUID",
};

/** Returns a bound in words: a length if it is of a text or a list, else the number itself. */
function bound(origin: string, limit: number | bigint): string {
  if (origin === "string") return counted(Number(limit), "character");
  return origin === "array" ? counted(Number(limit), "value") : String(limit);
}

function oneOf(values: readonly unknown[]): string {
  const shown = values.map(String).join(", ");
  return values.length === 1 ? `Use ${shown}.` : `Use one of ${shown}.`;
}

/** Returns what to send instead, if the schema has no message of its own. */
function advice(issue: z.core.$ZodRawIssue): string {
  switch (issue.code) {
    case "invalid_type":
      return `${issue.input === undefined ? "Give" : "Use"} ${
        EXPECTED[issue.expected] ?? issue.expected
      }.`;
    case "invalid_value":
      return oneOf(issue.values);
    case "too_big":
      return `Use ${issue.inclusive === false ? "less than" : "at most"} ${
        bound(issue.origin, issue.maximum)
      }.`;
    case "too_small":
      return `Use ${issue.inclusive === false ? "more than" : "at least"} ${
        bound(issue.origin, issue.minimum)
      }.`;
    case "invalid_format":
      return issue.format === "regex"
        ? `Use text that matches ${issue.pattern}.`
        : `Use ${FORMS[issue.format] ?? issue.format}.`;
    case "not_multiple_of":
      return `Use a multiple of ${issue.divisor}.`;
    case "unrecognized_keys":
      return `Remove ${issue.keys.join(", ")}: there is no such member here.`;
    default:
      return "Use one of the documented values.";
  }
}

/** The parse options for values whose mistakes are shown to whoever sent them. */
export const WITH_ADVICE = { error: advice } as const;

/**
 * Returns what a schema refuses, without the lengths of values of a wrong type: Zod also checks how long a text is
 * that should be a list, and a list that should be text.
 */
export function issuesOf({ issues }: z.ZodError): z.core.$ZodIssue[] {
  const place = ({ path }: z.core.$ZodIssue) => JSON.stringify(path);
  const ofType = new Set(issues.filter(({ code }) => code === "invalid_type").map(place));
  const isLength = ({ code }: z.core.$ZodIssue) => code === "too_big" || code === "too_small";
  return issues.filter((issue) => !isLength(issue) || !ofType.has(place(issue)));
}
