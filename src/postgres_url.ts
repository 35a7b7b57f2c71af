/** Where a PostgreSQL server is, and whose certificates are believed there. */
export interface PostgresTarget {
  /** The URL as the driver takes it. */
  readonly url: string;
  /** The host where it is an IPv6 address, of which the driver would take a part for the port. */
  readonly ipv6?: string;
  /** Absent: as `sslmode` says. */
  readonly ssl?: "verify-full" | { readonly ca: string };
}

const EXPECTED = "must be a URL such as postgres://user:password@host/database";
const ENCODED = "in user and password % is %25, # is %23, / is %2F, ? is %3F, @ is %40";

/** Returns the URL parsed; its user and its password can be decoded, which the driver will do. */
function parsedUrl(url: string): URL {
  if (!/^postgres(?:ql)?:\/\//i.test(url)) throw new Error(EXPECTED);
  try {
    const parsed = new URL(url);
    for (const each of [parsed.username, parsed.password]) decodeURIComponent(each);
    // A password that begins with one of the signs is a port that is left out, or ends the host.
    if (parsed.hash === "" && !parsed.pathname.includes("@")) return parsed;
  } catch {
    // The error quotes the URL, which has the password.
  }
  throw new Error(`${EXPECTED}; ${ENCODED}`);
}

const ATTRS = "target_session_attrs";
const SESSION_ATTRS = ["any", "read-write", "read-only", "primary", "standby", "prefer-standby"];

/**
 * Puts libpq's `target_session_attrs` in the driver's words: it refuses `any`, which is what it does without
 * a word, and would take a standby for `read-write`.
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
 * Takes libpq's `sslrootcert` out of a URL: the driver would send it to the server, which knows no such setting.
 * With a file of root certificates, or `system`, the connection is encrypted, and the server's certificate and
 * its name are verified, by the runtime's own roots too, whatever `sslmode` says.
 * @throws Error that says what the URL must be, or why the file cannot be read, and shows nothing of the password
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
