/**
 * Parsers of the variables' values. Each takes a value that is set, returns it parsed, and throws an Error
 * whose message says what the value must be.
 */
import { Cron } from "croner";
import { createPublicKey } from "node:crypto";
import { isIP } from "node:net";
import { parseTrustedProxies, type TrustedProxies } from "../http/client_address.ts";
import { originPatternMistake } from "../http/cors.ts";
import {
  API_KEY_LENGTH_MAX,
  JWT_SECRET_BYTES_MIN,
  LOCATION_LENGTH_MAX,
  NAME_LENGTH_MAX,
} from "../limits.ts";
import { isSiteUrl, isTimezone, normalSiteUrl } from "../project_values.ts";

export function trustedProxies(value: string): TrustedProxies {
  const parsed = parseTrustedProxies(value);
  if (typeof parsed === "string") throw new Error(parsed);
  return parsed;
}

/** Takes a PEM or JWK that the runtime can read. Which algorithm it is for is checked by the verifier. */
export function publicKey(value: string): string {
  try {
    if (value.startsWith("{")) createPublicKey({ key: JSON.parse(value), format: "jwk" });
    else createPublicKey(value);
  } catch {
    throw new Error("must be a public key as PEM (BEGIN PUBLIC KEY) or as a JWK");
  }
  return value;
}

export function geoDatabase(value: string): string {
  try {
    if (Deno.statSync(value).isFile) return value;
  } catch { /* reported below */ }
  throw new Error(`must be a file that can be read; ${value} is none`);
}

/** Takes a path that Footfall has no permission to read as it is: starting the browser shows if it is right. */
export function chromePath(value: string): string {
  if (Deno.permissions.querySync({ name: "read", path: value }).state !== "granted") return value;
  try {
    if (Deno.statSync(value).isFile) return value;
  } catch { /* reported below */ }
  throw new Error(`must be the file of a browser; ${value} is none`);
}

const HOST_LENGTH_MAX = 253;
/** Labels separated by dots; the last one is not a number. */
const HOST_NAME =
  /^(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?\.)*(?!\d+\.?$)[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?\.?$/i;

export function host(value: string): string {
  const isAddress = isIP(value) !== 0 && !value.includes("%");
  const isName = value.length <= HOST_LENGTH_MAX && HOST_NAME.test(value);
  if (!isAddress && !isName) {
    throw new Error("must be an address such as 127.0.0.1 or ::, or a host name");
  }
  return value;
}

export function basePath(value: string): string {
  const path = `/${value.replace(/^\/+|\/+$/g, "")}`;
  if (path === "/") return "";
  if (!/^(\/[A-Za-z0-9._~-]+)+$/.test(path)) {
    throw new Error("must be a path such as /analytics");
  }
  if (/\/\.{1,2}(?:\/|$)/.test(path)) {
    throw new Error("must be a path such as /analytics, without . and .. in it");
  }
  return path;
}

/** Returns the address with the base path, which the value may omit. */
export function publicUrl(value: string, path: string): string {
  const url = URL.parse(value);
  const own = url?.pathname.replace(/\/+$/, "") ?? "";
  const isPlain = url !== null && /^https?:$/.test(url.protocol) &&
    url.username + url.password + url.search + url.hash === "";
  if (!isPlain || (own !== "" && own !== path)) {
    throw new Error(
      "must be an address such as https://stats.example.com; its path, if any, is BASE_PATH",
    );
  }
  return url.origin + path;
}

export function jwtSecret(value: string): string {
  if (new TextEncoder().encode(value).length < JWT_SECRET_BYTES_MIN) {
    throw new Error(
      `must have ${JWT_SECRET_BYTES_MIN} bytes or more; \`openssl rand -base64 32\` makes one`,
    );
  }
  return value;
}

export function origins(value: string): readonly string[] {
  const list = value.split(/[\s,]+/).filter((part) => part !== "");
  for (const origin of list) {
    const mistake = origin === "*" ? null : originPatternMistake(origin);
    if (mistake !== null) throw new Error(`${origin}: ${mistake}`);
  }
  return list;
}

export function projectId(value: string): string {
  if (!/^prj_[A-Za-z0-9_-]{1,60}$/.test(value)) {
    throw new Error("must be prj_ and up to 60 letters, digits, _ or -");
  }
  return value;
}

export function projectName(value: string): string {
  if (value.length > NAME_LENGTH_MAX || /\p{Cc}/u.test(value)) {
    throw new Error(`must have at most ${NAME_LENGTH_MAX} characters, none a control character`);
  }
  return value;
}

/** The same rules as for a project's site in a request. */
export function siteUrl(value: string): string {
  if (!isSiteUrl(value) || /\p{Cc}/u.test(value)) {
    throw new Error(
      "must be an http or https URL without user name, backslash and control characters",
    );
  }
  if (normalSiteUrl(value).length > LOCATION_LENGTH_MAX) {
    throw new Error(`must have at most ${LOCATION_LENGTH_MAX} characters`);
  }
  return value;
}

/** The same rules as for a project's time zone in a request. */
export function timezone(value: string): string {
  if (!isTimezone(value)) throw new Error("must be an IANA time zone such as Europe/Berlin");
  return value;
}

/** The same rules as `isGivenKey` has for a public key. */
export function publicApiKey(value: string): string {
  if (/^(?:sk_|site:)/.test(value) || !/^[\x21-\x7e]{8,200}$/.test(value)) {
    throw new Error(
      "must be a public key: 8 to 200 printable characters, not starting with sk_ or site:",
    );
  }
  return value;
}

export function metricsToken(value: string): string {
  if (value.length > API_KEY_LENGTH_MAX || !/^[A-Za-z0-9._~+/-]+=*$/.test(value)) {
    throw new Error(
      `must be at most ${API_KEY_LENGTH_MAX} letters, digits or ._~+/-; ` +
        "`openssl rand -hex 32` makes one",
    );
  }
  return value;
}

/** Five fields, or a word such as `@daily`. The parser would also take a date, which comes only once. */
const CRON = /^(?:@[a-z]+|\S+(?:\s+\S+){4})$/i;

export function cronSchedule(value: string): string {
  let next: Date | null;
  try {
    if (!CRON.test(value)) throw new RangeError(value);
    next = new Cron(value, { timezone: "UTC", mode: "5-part", paused: true }).nextRun();
  } catch (cause) {
    throw new Error("must be a cron schedule of five fields, such as 0 3 * * *", { cause });
  }
  if (next === null) throw new Error(`must be a cron schedule that comes; ${value} never does`);
  return value;
}

/** Tokens come from there, so plain HTTP is allowed only on the same machine. */
export function oidcIssuer(value: string): string {
  const url = URL.parse(value);
  const isLocal = /^(?:localhost|127\.0\.0\.1|\[::1\])$/.test(url?.hostname ?? "");
  if (url === null || !(url.protocol === "https:" || url.protocol === "http:" && isLocal)) {
    throw new Error("must be an https URL such as https://login.example.com");
  }
  return value;
}

export function oidcScopes(value: string): string {
  const scopes = value.split(/\s+/);
  if (
    !scopes.includes("openid") ||
    !scopes.every((scope) => /^[\x21\x23-\x5b\x5d-\x7e]+$/.test(scope))
  ) {
    throw new Error("must be scopes with openid among them, such as openid email profile");
  }
  return scopes.join(" ");
}

export function emailDomains(value: string): string[] {
  const domains = value.toLowerCase().split(/[\s,]+/).filter((part) => part !== "")
    .map((domain) => domain.replace(/^@/, ""));
  const wrong = domains.find((domain) => !/^[a-z0-9-]+(?:\.[a-z0-9-]+)+$/.test(domain));
  if (wrong !== undefined) throw new Error(`must be domains such as example.com; ${wrong} is none`);
  return domains;
}
