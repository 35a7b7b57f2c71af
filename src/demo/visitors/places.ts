import type { Random } from "./random.ts";

/** A country that visitors come from, with blocks of public addresses that are entirely in it. */
export interface VisitorCountry {
  readonly country: string;
  readonly weight: number;
  readonly timezone: string;
  readonly locales: readonly string[];
  /** First two numbers of IPv4 addresses. */
  readonly blocks: readonly string[];
}

export const PLACES: readonly VisitorCountry[] = [
  {
    country: "DE",
    weight: 36,
    timezone: "Europe/Berlin",
    locales: ["de-DE", "de-DE", "de", "en-GB"],
    blocks: ["2.160", "53.63", "79.196", "84.138", "91.21"],
  },
  {
    country: "US",
    weight: 13,
    timezone: "America/New_York",
    locales: ["en-US"],
    blocks: ["24.182", "73.65", "73.192", "99.41"],
  },
  {
    country: "GB",
    weight: 9,
    timezone: "Europe/London",
    locales: ["en-GB"],
    blocks: ["2.28", "81.98", "81.159", "86.144"],
  },
  {
    country: "AT",
    weight: 8,
    timezone: "Europe/Vienna",
    locales: ["de-AT"],
    blocks: ["46.74", "77.117", "85.125", "93.82"],
  },
  {
    country: "CH",
    weight: 7,
    timezone: "Europe/Zurich",
    locales: ["de-CH", "de-CH", "fr-CH"],
    blocks: ["77.59", "84.74", "86.118", "178.193"],
  },
  {
    country: "FR",
    weight: 6,
    timezone: "Europe/Paris",
    locales: ["fr-FR"],
    blocks: ["2.3", "78.238", "88.182", "90.117"],
  },
  {
    country: "NL",
    weight: 6,
    timezone: "Europe/Amsterdam",
    locales: ["nl-NL", "en-GB"],
    blocks: ["77.171", "83.81", "86.83"],
  },
  {
    country: "PL",
    weight: 4,
    timezone: "Europe/Warsaw",
    locales: ["pl-PL"],
    blocks: ["5.173", "83.22", "89.72"],
  },
  {
    country: "ES",
    weight: 3,
    timezone: "Europe/Madrid",
    locales: ["es-ES"],
    blocks: ["2.136", "77.229", "95.61"],
  },
  {
    country: "IT",
    weight: 3,
    timezone: "Europe/Rome",
    locales: ["it-IT"],
    blocks: ["2.32", "87.21", "151.41"],
  },
  {
    country: "SE",
    weight: 2,
    timezone: "Europe/Stockholm",
    locales: ["sv-SE"],
    blocks: ["2.64", "78.65", "81.238"],
  },
  {
    country: "IN",
    weight: 2,
    timezone: "Asia/Kolkata",
    locales: ["en-IN"],
    blocks: ["49.39", "49.205", "101.215"],
  },
  {
    country: "BR",
    weight: 1,
    timezone: "America/Sao_Paulo",
    locales: ["pt-BR"],
    blocks: ["177.129", "179.232", "187.65"],
  },
];

/** Returns a random address of the place, never the first or the last of a network. */
export function addressIn(place: VisitorCountry, random: Random): string {
  return `${random.pick(place.blocks)}.${random.integer(0, 255)}.${random.integer(1, 254)}`;
}
