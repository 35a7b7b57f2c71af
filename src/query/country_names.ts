/** English names of countries, which filters may give where the API takes codes. */
import { plainText } from "./nearest_values.ts";

const LETTERS = Array.from({ length: 26 }, (_, i) => String.fromCharCode(65 + i));
const CODES = LETTERS.flatMap((first) => LETTERS.map((second) => first + second));
/** Common names in addition to the standard ones. */
const ALSO_CALLED: Readonly<Record<string, string>> = {
  "usa": "US",
  "united states of america": "US",
  "great britain": "GB",
  "england": "GB",
  "czech republic": "CZ",
  "holland": "NL",
  "ivory coast": "CI",
  "turkey": "TR",
};

const full = new Intl.DisplayNames(["en"], { type: "region", fallback: "none" });
const short = new Intl.DisplayNames(["en"], { type: "region", style: "short", fallback: "none" });

/** Returns the name of a country by its two-letter code; undefined where no country has it. */
export function countryName(code: string): string | undefined {
  return /^[A-Z]{2}$/.test(code) ? full.of(code) : undefined;
}

/** Whether a code is a present one; former ones have the names of their successors, as DD that of DE. */
function isInUse(code: string): boolean {
  return new Intl.Locale(`und-${code}`).region === code;
}

let codes: ReadonlyMap<string, string> | null = null;

function readCodes(): ReadonlyMap<string, string> {
  const named = CODES.filter((code) => full.of(code) !== undefined && isInUse(code));
  return new Map([
    ...named.flatMap((code) =>
      [full.of(code)!, short.of(code)!].map((name) => [plainText(name), code] as const)
    ),
    ...Object.entries(ALSO_CALLED),
  ]);
}

/** Returns the code of a country by its whole name, ignoring case; undefined where no country has it. */
export function countryCode(name: string): string | undefined {
  codes ??= readCodes();
  return codes.get(plainText(name));
}
