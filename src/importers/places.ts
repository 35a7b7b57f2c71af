import type { GeoPlace } from "../event_file/exported_event.ts";
import { statedText } from "./agent_names.ts";

const LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
/** Codes that ISO 3166-1 leaves to users, and others that are not countries. */
const NO_COUNTRY: ReadonlySet<string> = new Set(["XX", "ZZ", "EU", "AP", "A1", "A2", "O1", "T1"]);
/**
 * Names that the Unicode locale data does not have: those of GeoNames (Amplitude, MaxMind), Google and ISO 3166, and
 * others in use.
 */
const OTHER_NAMES: Readonly<Record<string, string>> = {
  "Hong Kong": "HK",
  "Macao": "MO",
  "Macau": "MO",
  "Palestine": "PS",
  "Palestinian Territory": "PS",
  "State of Palestine": "PS",
  "Turkey": "TR",
  "Türkiye": "TR",
  "Myanmar": "MM",
  "Burma": "MM",
  "Czech Republic": "CZ",
  "Ivory Coast": "CI",
  "Côte d'Ivoire": "CI",
  "Russian Federation": "RU",
  "Republic of Korea": "KR",
  "Democratic People's Republic of Korea": "KP",
  "Viet Nam": "VN",
  "United States of America": "US",
  "USA": "US",
  "United States Minor Outlying Islands": "UM",
  "U.S. Minor Outlying Islands": "UM",
  "United Kingdom of Great Britain and Northern Ireland": "GB",
  "Islamic Republic of Iran": "IR",
  "Lao People's Democratic Republic": "LA",
  "Plurinational State of Bolivia": "BO",
  "Bolivarian Republic of Venezuela": "VE",
  "United Republic of Tanzania": "TZ",
  "Democratic Republic of the Congo": "CD",
  "DR Congo": "CD",
  "Congo (DRC)": "CD",
  "Republic of the Congo": "CG",
  "Congo Republic": "CG",
  "Congo (Republic)": "CG",
  "Congo": "CG",
  "Swaziland": "SZ",
  "Cape Verde": "CV",
  "Cabo Verde": "CV",
  "Macedonia": "MK",
  "Macedonia (FYROM)": "MK",
  "Federated States of Micronesia": "FM",
  "Hashemite Kingdom of Jordan": "JO",
  "Republic of Lithuania": "LT",
  "Republic of Moldova": "MD",
  "Bonaire, Sint Eustatius and Saba": "BQ",
  "Bonaire, Saint Eustatius and Saba": "BQ",
  "East Timor": "TL",
  "Saint Vincent and the Grenadines": "VC",
  "South Georgia and the South Sandwich Islands": "GS",
  "Heard Island and McDonald Islands": "HM",
  "Pitcairn": "PN",
  "Falkland Islands": "FK",
  "Brunei Darussalam": "BN",
  "Syrian Arab Republic": "SY",
  "Åland": "AX",
  "Vatican": "VA",
  "Holy See": "VA",
  "Holy See (Vatican City State)": "VA",
  "Kingdom of the Netherlands": "NL",
  "Former Yugoslav Republic of Macedonia": "MK",
  "Falkland Islands (Malvinas)": "FK",
  "Saint Helena, Ascension and Tristan da Cunha": "SH",
  "Saint Martin (French part)": "MF",
  "Sint Maarten (Dutch part)": "SX",
  "Taiwan, Province of China": "TW",
  "Taiwan (Province of China)": "TW",
  "Virgin Islands, British": "VG",
  "Virgin Islands (British)": "VG",
  "Virgin Islands, U.S.": "VI",
  "Virgin Islands (U.S.)": "VI",
};

/**
 * Returns a name in lower case without diacritics and article, "&" and "St." in full, without a comma before "and", and
 * with what follows a comma in its place, so that `Côte d’Ivoire` equals `Cote d'Ivoire`, `St. Kitts & Nevis` equals
 * `Saint Kitts and Nevis`, and `Moldova, Republic of` or `Moldova (the Republic of)` equals `Republic of Moldova`.
 */
const plain = (name: string) =>
  name.toLowerCase().replaceAll("’", "'").normalize("NFD").replace(/[\u0300-\u036f]/g, "")
    .replaceAll("&", "and").replace(/^the /, "").replace(/\bst\.? /g, "saint ")
    .replaceAll("[", "(").replaceAll("]", ")").replaceAll(", and ", " and ")
    .replace(/^([^,(]+)(?:, | \()(?:the )?([^,()]+ of(?: the)?)\)?$/, "$2 $1");

let codes: ReadonlyMap<string, string> | null = null;

/** Returns the codes of all countries by their English names. */
function codesByName(): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  const names = new Intl.DisplayNames("en", { type: "region", fallback: "none" });
  for (const first of LETTERS) {
    for (const second of LETTERS) {
      const code = first + second;
      const name = NO_COUNTRY.has(code) ? undefined : names.of(code);
      // Codes of former countries have the name of their successor.
      if (name !== undefined && !found.has(plain(name))) found.set(plain(name), canonical(code));
    }
  }
  for (const [name, code] of Object.entries(OTHER_NAMES)) found.set(plain(name), code);
  return found;
}

function canonical(code: string): string {
  return new Intl.Locale(`und-${code}`).region ?? code;
}

/** Returns the ISO 3166-1 alpha-2 code of a country, given by its code or English name; null: unknown. */
export function countryCode(value: unknown): string | null {
  const text = statedText(value);
  if (text === null) return null;
  if (/^[A-Za-z]{2}$/.test(text)) {
    const code = text.toUpperCase();
    if (code === "UK") return "GB";
    return NO_COUNTRY.has(code) ? null : code;
  }
  codes ??= codesByName();
  return codes.get(plain(text)) ?? null;
}

/** Returns a place; null: nothing about it is known. */
export function placeOf(country: unknown, region: unknown, city: unknown): GeoPlace | null {
  const place = {
    country: countryCode(country),
    region: statedText(region),
    city: statedText(city),
  };
  return place.country === null && place.region === null && place.city === null ? null : place;
}
