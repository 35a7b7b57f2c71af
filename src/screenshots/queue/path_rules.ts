import { CAPTURE_PATH_LENGTH_MAX } from "../capture_limits.ts";
import {
  COMPLETION_PHRASES,
  DEED_PHRASES,
  FILE_ENDINGS,
  KEY_PHRASES,
  LEAVING_PHRASES,
  ORDER_PHRASES,
} from "./path_words.ts";
import { folded, segmentsOf } from "../phrases.ts";
import { siteOf } from "../site_hosts.ts";

/** An origin that no site has, as RFC 6761 reserves it. */
const NO_SITE = "https://relative.invalid";
/** The most words of a segment that is named after an action; the title of an article has more. */
const SHORT_WORDS_MAX = 4;
/** The fewest characters of a segment that can be a token. */
const TOKEN_LENGTH_MIN = 20;
/** The fewest changes between small letters, capitals and digits per character: random text has 0.4, names 0.15. */
const TOKEN_CHANGES_MIN = 0.2;
const HEX_TOKEN = /(?<![0-9a-z])[0-9a-f]{24,}(?![0-9a-z])/i;
const JSON_WEB_TOKEN = /(?:^|[^\w-])ey[\w-]{8,}\.[\w-]{2,}\.[\w-]*/;
const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/gi;
const MAIL_ADDRESS = /[^/@\s]@[^/@\s]+\.[^/@\s]/;
const CHANGE = /[a-z](?=[A-Z0-9])|[A-Z](?=[0-9])|[0-9](?=[A-Za-z])/g;
const CONTROL = /[\p{Cc}\\]/u;

/**
 * Returns a path as URLs have it, without query and fragment; null if the daily job must not visit it: a visit might
 * do something (sign out, delete, confirm), open something private (tokens, mail addresses), or load a file. It is
 * rather too strict, as an excluded page can still be requested by name.
 */
export function capturablePath(path: string): string | null {
  const normal = plainPath(path);
  if (normal === null || normal.length > CAPTURE_PATH_LENGTH_MAX) return null;
  const segments = segmentsOf(normal);
  if (segments.some((segment) => CONTROL.test(segment))) return null;
  return isFile(normal) || isDeed(segments) || isKey(segments) ? null : normal;
}

/**
 * Returns the address of a path on the site, without query and fragment; null if the path is invalid or would lead
 * to another origin. Paths of events begin at the root of their host, so the site URL's own path does not matter.
 */
export function urlOfPath(siteUrl: string, path: string): URL | null {
  const site = siteOf(siteUrl);
  const plain = plainPath(path);
  if (site === null || plain === null) return null;
  const url = URL.parse(plain, site.origin);
  return url !== null && url.origin === site.origin && url.pathname === plain ? url : null;
}

/** Returns a path as URL writes it: dot segments resolved, percent-encoded; null if it is not a path of a host. */
function plainPath(path: string): string | null {
  if (!path.isWellFormed() || CONTROL.test(path)) return null;
  const text = path.replace(/[?#].*$/s, "");
  if (!text.startsWith("/") || text.startsWith("//")) return null;
  const url = URL.parse(text, NO_SITE);
  // Resolving dot segments may leave two slashes at the start, which the next parser would take for a host.
  return url === null || url.origin !== NO_SITE || url.pathname.startsWith("//")
    ? null
    : url.pathname;
}

function isFile(path: string): boolean {
  const ending = /\.([a-z0-9]+)$/i.exec(path)?.[1];
  return ending !== undefined && FILE_ENDINGS.has(ending.toLowerCase());
}

/** Returns the folded words of a segment; `deleteAccount` is two words. */
function wordsOf(segment: string): string {
  return folded(segment.replaceAll(/([\p{Ll}\d])(?=\p{Lu})/gu, "$1 "));
}

/** Whether a segment is named after an action that a visit might do. */
function isDeed(segments: readonly string[]): boolean {
  let isOrder = false;
  for (const segment of segments) {
    // Both ways, as the phrases have only one of `logout` and `log out` in some languages.
    for (const text of new Set([wordsOf(segment), folded(segment)])) {
      const words = text.split(" ");
      if (LEAVING_PHRASES.isIn(text)) return true;
      if (words.length <= SHORT_WORDS_MAX && DEED_PHRASES.isIn(text)) return true;
      if (DEED_PHRASES.isIn(words[0] ?? "")) return true;
      if (isOrder && words.length <= SHORT_WORDS_MAX && COMPLETION_PHRASES.isIn(text)) return true;
    }
    isOrder ||= ORDER_PHRASES.isIn(segment);
  }
  return false;
}

/** Whether a segment gives access to whoever knows it, or names a person. */
function isKey(segments: readonly string[]): boolean {
  if (segments.some((segment) => MAIL_ADDRESS.test(segment) || /;\w+=/.test(segment))) return true;
  if (segments.some(isToken)) return true;
  return segments.some((segment) => segment.search(UUID) >= 0) &&
    segments.some((segment) => KEY_PHRASES.isIn(wordsOf(segment)));
}

/** Whether a segment contains long random text: hexadecimal, base64url, a JSON Web Token. UUIDs do not count. */
function isToken(segment: string): boolean {
  const text = segment.replaceAll(UUID, "");
  if (JSON_WEB_TOKEN.test(text) || HEX_TOKEN.test(text)) return true;
  return [text, ...text.split(/[^A-Za-z0-9_+=-]+/), ...text.split(/[^A-Za-z0-9]+/)].some(isRandom);
}

function isRandom(text: string): boolean {
  const characters = text.replaceAll(/[^A-Za-z0-9]/g, "").length;
  return characters >= TOKEN_LENGTH_MIN &&
    (text.match(CHANGE)?.length ?? 0) / characters >= TOKEN_CHANGES_MIN;
}
