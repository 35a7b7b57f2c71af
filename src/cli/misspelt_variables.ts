import { CONFIG_VARIABLES } from "../config/config_variables.ts";
import { editDistance } from "../query/nearest_values.ts";

const KNOWN: readonly string[] = CONFIG_VARIABLES.map(({ name }) => name);
/**
 * In shorter names, such as PORT, only one letter may be missing or too many, or two be swapped: POST and COST are other
 * words, and SFTP_URL another service than SMTP_URL.
 */
const LONG_LENGTH_MIN = 9;

function isSwapped(a: string, b: string): boolean {
  const at = [...a].findIndex((letter, i) => letter !== b[i]);
  return a[at] === b[at + 1] && a[at + 1] === b[at] && a.slice(at + 2) === b.slice(at + 2);
}

function isNear(name: string, known: string): boolean {
  if (isSwapped(name, known)) return true;
  // VHOST and GHOST are words of their own: the first letter is seldom mistyped.
  if (name[0] !== known[0]) return false;
  const errors = editDistance(name, known, 2);
  return known.length < LONG_LENGTH_MIN
    ? errors === 1 && name.length !== known.length
    : errors <= 2;
}

/** A variable that Footfall does not know, and the one that is probably meant. */
export interface Misspelt {
  readonly variable: string;
  readonly meant: string;
}

/**
 * Returns the variables whose names are nearly those of Footfall's. One whose own is set, too, is somebody else's, as
 * `DATABASE_URI` may be beside `DATABASE_URL`.
 */
export function misspeltOf(names: readonly string[]): Misspelt[] {
  const given = new Set(names);
  return [...given].filter((name) => !KNOWN.includes(name)).flatMap((variable) => {
    const meant = KNOWN.find((known) => !given.has(known) && isNear(variable, known));
    return meant === undefined ? [] : [{ variable, meant }];
  });
}
