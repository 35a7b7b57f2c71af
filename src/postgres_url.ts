/** Where a PostgreSQL server is, and which certificates it may show. */
export interface PostgresTarget {
  /** The URL to pass to the driver. */
  readonly url: string;
  /** The host if it is an IPv6 address: the driver would read a part of it as the port. */
  readonly ipv6?: string;
  /** Absent: as `sslmode` says. */
  readonly ssl?: "verify-full" | { readonly ca: string };
}

const EXPECTED = "must be a URL such as postgres://user:password@host/database";
const ENCODED = "in user and password % is %25, # is %23, / is %2F, ? is %3F, @ is %40";

/** Returns the parsed URL, after checking that its user and password can be decoded, as the driver will do. */
function parsedUrl(url: string): URL {
  if (!/^postgres(?:ql)?:\/\//i.test(url)) throw new Error(EXPECTED);
  try {
    const parsed = new URL(url);
    for (const each of [parsed.username, parsed.password]) decodeURIComponent(each);
    // An unencoded # in the password starts the hash, a / the path, and a ? the query, which then contain the @.
    const isInQuery = parsed.username === "" && /:\d*\?.*@/s.test(url);
    if (parsed.hash === "" && !parsed.pathname.includes("@") && !isInQuery) return parsed;
  } catch {
    // This error is not passed on: it quotes the URL, and so the password.
  }
  throw new Error(`${EXPECTED}; ${ENCODED}`);
}

const ATTRS = "target_session_attrs";
const SESSION_ATTRS = ["any", "read-write", "read-only", "primary", "standby", "prefer-standby"];

/**
 * Translates libpq's `target_session_attrs` for the driver, which refuses `any`, its own default, and accepts
 * a standby for `read-write`.
 */
function putSessionAttrs(search: URLSearchParams): void {
  const attrs = search.get(ATTRS);
  if (attrs === null) return;
  if (!SESSION_ATTRS.includes(attrs)) {
    throw new Error(`has a ${ATTRS} that must be one of ${SESSION_ATTRS.join(", ")}`);
  }
  if (attrs === "any") search.delete(ATTRS);
  if (attrs === "read-write") search.set(ATTRS, "primary");
}

/**
 * Parses a database URL. Takes libpq's `sslrootcert` out of it, as the driver would send it to the server, which
 * knows no such setting. With a file of root certificates, or `system`, the connection is encrypted and the
 * server's certificate and name are verified, also against the runtime's own roots, whatever `sslmode` says.
 * @throws Error that says what the URL must be, or why the file cannot be read, without the password
 */
export function postgresTarget(url: string): PostgresTarget {
  const parsed = parsedUrl(url);
  const ipv6 = /^\[(.+)\]$/.exec(parsed.hostname)?.[1];
  const at = ipv6 === undefined ? {} : { ipv6 };
  const before = parsed.href;
  if (ipv6 !== undefined) parsed.hostname = "ipv6";
  putSessionAttrs(parsed.searchParams);
  const file = parsed.searchParams.get("sslrootcert");
  parsed.searchParams.delete("sslrootcert");
  const target = { url: parsed.href === before ? url : parsed.href, ...at };
  if (file === null) return target;
  if (file === "system") return { ...target, ssl: "verify-full" };
  try {
    return { ...target, ssl: { ca: Deno.readTextFileSync(file) } };
  } catch (error) {
    throw new Error(`names an sslrootcert that cannot be read: ${(error as Error).message}`);
  }
}
