/** Values of fields that people know by other names than the API's: countries, devices and paths. */
import { valueLabel } from "./filter_fields.ts";
import { countryName } from "./number_format.ts";
import { isPathField, meantPath } from "../readable_path.ts";

const LETTERS = Array.from({ length: 26 }, (_, i) => String.fromCharCode(65 + i));
/** The least length of a part that a country is found by, where the project has none like it. */
const PART_LENGTH_MIN = 3;
const DEVICES: readonly string[] = ["desktop", "tablet", "mobile", "other"];

let codes: readonly string[] | null = null;

/** All codes of countries, without outdated ones. */
function countryCodes(): readonly string[] {
  codes ??= LETTERS.flatMap((first) => LETTERS.map((second) => first + second))
    .filter((code) => countryName(code) !== code && new Intl.Locale(`und-${code}`).region === code);
  return codes;
}

const english = new Intl.DisplayNames(["en"], { type: "region" });

/** A text without accents and case. */
function plain(text: string): string {
  return text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase().trim();
}

/** Whether a field's values are shown by names that the API does not take. */
export function isNamed(field: string): boolean {
  return field === "country" || field === "device";
}

function namesOf(field: string, value: string): string[] {
  const names = field === "country" ? [countryName(value), english.of(value) ?? value] : [];
  return [value, valueLabel(field, value), ...names].map(plain);
}

/** The one value with a name that passes; null: none or several have. */
function only(
  field: string,
  values: readonly string[],
  passes: (name: string) => boolean,
): string | null {
  const found = values.filter((value) => namesOf(field, value).some(passes));
  return found.length === 1 ? found[0]! : null;
}

/**
 * The value that a typed text means: one with this name, else the only value of the project whose name begins
 * with it or contains it, else the only country whose name begins with it. Other texts mean themselves.
 */
export function meantValue(field: string, text: string, known: readonly string[]): string {
  const wanted = plain(text);
  if (isPathField(field)) return meantPath(text.trim(), known);
  if (!isNamed(field) || wanted === "") return text.trim();
  const all = field === "country" ? countryCodes() : DEVICES;
  const isWhole = (name: string) => name === wanted;
  const begins = (name: string) => name.startsWith(wanted);
  const contains = (name: string) => wanted.length >= PART_LENGTH_MIN && name.includes(wanted);
  return only(field, known, isWhole) ?? only(field, all, isWhole) ??
    only(field, known, begins) ?? only(field, known, contains) ??
    (wanted.length < PART_LENGTH_MIN ? null : only(field, all, begins)) ?? text.trim();
}
