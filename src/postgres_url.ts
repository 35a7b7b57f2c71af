/** Where a PostgreSQL server is, and whose certificates are believed there. */
export interface PostgresTarget {
  /** The URL as the driver takes it. */
  readonly url: string;
  /** Absent: as `sslmode` says. */
  readonly ssl?: "verify-full" | { readonly ca: string };
}

/**
 * Takes libpq's `sslrootcert` out of a URL: the driver would send it to the server, which knows no such setting.
 * With a file of root certificates, or `system`, the connection is encrypted, and the server's certificate and
 * its name are verified, by the runtime's own roots too, whatever `sslmode` says.
 * @throws Error that says why the file cannot be read
 */
export function postgresTarget(url: string): PostgresTarget {
  const parsed = new URL(url);
  const file = parsed.searchParams.get("sslrootcert");
  if (file === null) return { url };
  parsed.searchParams.delete("sslrootcert");
  if (file === "system") return { url: parsed.href, ssl: "verify-full" };
  try {
    return { url: parsed.href, ssl: { ca: Deno.readTextFileSync(file) } };
  } catch (error) {
    throw new Error(`names an sslrootcert that cannot be read: ${(error as Error).message}`);
  }
}
