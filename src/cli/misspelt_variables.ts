import { CONFIG_VARIABLES } from "../config_variables.ts";
import { editDistance } from "../query/nearest_values.ts";

const KNOWN: readonly string[] = CONFIG_VARIABLES.map(({ name }) => name);
/** In shorter names, such as PORT, only one letter may differ, or two that are swapped: HOME is not HOST. */
const TWO_ERRORS_LENGTH_MIN = 8;

function isSwapped(a: string, b: string): boolean {
  const at = [...a].findIndex((letter, i) => letter !== b[i]);
  return a[at] === b[at + 1] && a[at + 1] === b[at] && a.slice(at + 2) === b.slice(at + 2);
}

function isNear(name: string, known: string): boolean {
  const errors = editDistance(name, known, 2);
  return errors <= (known.length < TWO_ERRORS_LENGTH_MIN ? 1 : 2) || isSwapped(name, known);
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
