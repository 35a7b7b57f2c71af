/** Values of fields that people know by another name than the API: countries and devices. */
import { valueLabel } from "./filter_fields.ts";
import { countryName } from "./number_format.ts";

const LETTERS = Array.from({ length: 26 }, (_, i) => String.fromCharCode(65 + i));
/** The least length of a part that a country is found by, where the project has none like it. */
const PART_LENGTH_MIN = 3;
const DEVICES: readonly string[] = ["desktop", "tablet", "mobile", "other"];

let codes: readonly string[] | null = null;

/** Every code that is a country's, and no older one of the same country. */
function countryCodes(): readonly string[] {
  codes ??= LETTERS.flatMap((first) => LETTERS.map((second) => first + second))
    .filter((code) => countryName(code) !== code && new Intl.Locale(`und-${code}`).region === code);
  return codes;
}

const english = new Intl.DisplayNames(["en"], { type: "region" });

/** Without marks and case. */
function plain(text: string): string {
  return text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase().trim();
}

/** True where values are shown by a name that is not what the API takes. */
export function isNamed(field: string): boolean {
  return field === "country" || field === "device";
}

function namesOf(field: string, value: string): string[] {
  const names = field === "country" ? [countryName(value), english.of(value) ?? value] : [];
  return [value, valueLabel(field, value), ...names].map(plain);
}

/** The one value whose names pass; null where none or several do. */
function only(
  field: string,
  values: readonly string[],
  passes: (name: string) => boolean,
): string | null {
  const found = values.filter((value) => namesOf(field, value).some(passes));
  return found.length === 1 ? found[0]! : null;
}

/**
 * The value that a typed text means: by its whole name, then by a beginning or a part that no other
 * value of the project has, then by one that no other country has. Any other text means itself.
 */
export function meantValue(field: string, text: string, known: readonly string[]): string {
  const wanted = plain(text);
  if (!isNamed(field) || wanted === "") return text.trim();
  const all = field === "country" ? countryCodes() : DEVICES;
  const isWhole = (name: string) => name === wanted;
  const begins = (name: string) => name.startsWith(wanted);
  const contains = (name: string) => wanted.length >= PART_LENGTH_MIN && name.includes(wanted);
  return only(field, known, isWhole) ?? only(field, all, isWhole) ??
    only(field, known, begins) ?? only(field, known, contains) ??
    (wanted.length < PART_LENGTH_MIN ? null : only(field, all, begins)) ?? text.trim();
}
