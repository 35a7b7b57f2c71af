import type { GeoPlace } from "../event_file/exported_event.ts";
import { statedText } from "./agent_names.ts";

const LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
/** Codes that ISO 3166-1 leaves to users, and others that are not countries. */
const NO_COUNTRY: ReadonlySet<string> = new Set(["XX", "ZZ", "EU", "AP", "A1", "A2", "O1", "T1"]);
/**
 * Names that the Unicode locale data does not have, as `plain` leaves them: of GeoNames (Amplitude, MaxMind),
 * Google and ISO 3166.
 */
const OTHER_NAMES: Readonly<Record<string, string>> = {
  "hong kong": "HK",
  "macao": "MO",
  "macau": "MO",
  "palestine": "PS",
  "turkey": "TR",
  "turkiye": "TR",
  "myanmar": "MM",
  "burma": "MM",
  "czech republic": "CZ",
  "ivory coast": "CI",
  "cote d'ivoire": "CI",
  "russian federation": "RU",
  "republic of korea": "KR",
  "korea, republic of": "KR",
  "viet nam": "VN",
  "united states of america": "US",
  "usa": "US",
  "united states minor outlying islands": "UM",
  "iran, islamic republic of": "IR",
  "democratic republic of the congo": "CD",
  "dr congo": "CD",
  "republic of the congo": "CG",
  "congo republic": "CG",
  "congo": "CG",
  "swaziland": "SZ",
  "cape verde": "CV",
  "cabo verde": "CV",
  "macedonia": "MK",
  "macedonia (fyrom)": "MK",
  "federated states of micronesia": "FM",
  "hashemite kingdom of jordan": "JO",
  "republic of lithuania": "LT",
  "republic of moldova": "MD",
  "bonaire, sint eustatius, and saba": "BQ",
  "east timor": "TL",
  "saint vincent and the grenadines": "VC",
  "south georgia and the south sandwich islands": "GS",
  "heard island and mcdonald islands": "HM",
  "pitcairn": "PN",
  "falkland islands": "FK",
  "brunei darussalam": "BN",
  "syrian arab republic": "SY",
};

/**
 * Returns a name in lower case without diacritics and article, "&" and "St." in full, so that `Côte d’Ivoire` equals
 * `Cote d'Ivoire`, and `St. Kitts & Nevis` equals `Saint Kitts and Nevis`.
 */
const plain = (name: string) =>
  name.toLowerCase().replaceAll("’", "'").normalize("NFD").replace(/[\u0300-\u036f]/g, "")
    .replaceAll("&", "and").replace(/^the /, "").replace(/\bst\.? /g, "saint ")
    .replaceAll("[", "(").replaceAll("]", ")");

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
  for (const [name, code] of Object.entries(OTHER_NAMES)) found.set(name, code);
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
