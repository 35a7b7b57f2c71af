/**
 * Tells browsers which origins may read replies: `*`, or exact origins and `https://*.example.com` patterns.
 */
export interface Cors {
  /** Sets the CORS headers for `origin` (the request's `Origin`, or null) on a reply. */
  decorate(headers: Headers, origin: string | null): void;
  /**
   * Returns the reply to a preflight of a path that takes `methods`; never an error, and no key is needed.
   * @param asked names of headers, as the preflight writes them, that are allowed besides the usual ones
   */
  preflight(origin: string | null, methods: string, asked?: string | null): Response;
}

const ALLOWED_REQUEST_HEADERS = ["Content-Type", "Content-Encoding", "X-API-Key", "Authorization"];
/** Header names (RFC 9110, section 5.6.2) between commas; a longer list is not allowed. */
const ASKED_HEADERS = /^[A-Za-z0-9!#$%&'*+.^_`|~, -]{1,1000}$/;
const EXPOSED_HEADERS = "Retry-After, X-Request-Id, Location, ETag";
const PREFLIGHT_VARY = "Origin, Access-Control-Request-Method, Access-Control-Request-Headers";
const PREFLIGHT_SECONDS = 86_400;

/** Whether `origin` matches one of `allowed`; `https://*.example.com` matches any subdomain. */
export function originMatches(origin: string, allowed: readonly string[]): boolean {
  return allowed.some((pattern) => {
    if (pattern === "*" || pattern === origin) return true;
    const star = pattern.indexOf("//*.");
    if (star === -1) return false;
    const scheme = pattern.slice(0, star + 2);
    const suffix = pattern.slice(star + 3);
    return origin.startsWith(scheme) && origin.endsWith(suffix) &&
      origin.length > scheme.length + suffix.length;
  });
}

const ORIGIN_PATTERN =
  /^https?:\/\/(\*\.)?[a-z0-9.-]+(:\d{1,5})?$|^https?:\/\/\[[0-9a-f:]+\](:\d{1,5})?$/;

/** Returns what is wrong with an origin or origin pattern, as a sentence; null if it is valid. */
export function originPatternMistake(pattern: string): string | null {
  return pattern.length <= 260 && ORIGIN_PATTERN.test(pattern)
    ? null
    : "must be an origin such as https://shop.example or https://*.example.com, without a path";
}

function allowedHeaders(asked: string | null): string {
  const usual = ALLOWED_REQUEST_HEADERS.map((name) => name.toLowerCase());
  const others = asked !== null && ASKED_HEADERS.test(asked)
    ? asked.split(",").map((name) => name.trim()).filter((name) =>
      name !== "" && !usual.includes(name.toLowerCase())
    )
    : [];
  return [...ALLOWED_REQUEST_HEADERS, ...others].join(", ");
}

export function createCors(allowedOrigins: readonly string[]): Cors {
  const any = allowedOrigins.includes("*");

  function allowedOrigin(origin: string | null): string | null {
    if (any) return "*";
    return origin !== null && originMatches(origin, allowedOrigins) ? origin : null;
  }

  return {
    decorate(headers, origin) {
      const allowed = allowedOrigin(origin);
      if (allowed !== null) headers.set("Access-Control-Allow-Origin", allowed);
      if (!any) headers.append("Vary", "Origin");
      headers.set("Access-Control-Expose-Headers", EXPOSED_HEADERS);
    },
    preflight(origin, methods, asked = null) {
      const headers = new Headers({
        "Access-Control-Allow-Methods": methods,
        "Access-Control-Allow-Headers": allowedHeaders(asked),
        "Access-Control-Max-Age": String(PREFLIGHT_SECONDS),
        "Access-Control-Expose-Headers": EXPOSED_HEADERS,
        "Vary": PREFLIGHT_VARY,
        "Allow": methods,
      });
      const allowed = allowedOrigin(origin);
      if (allowed !== null) headers.set("Access-Control-Allow-Origin", allowed);
      return new Response(null, { status: 204, headers });
    },
  };
}
