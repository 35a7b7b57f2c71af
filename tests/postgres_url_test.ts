import assert from "node:assert/strict";
import { join } from "node:path";
import { openPostgres } from "../src/db/postgres.ts";
import { postgresTarget } from "../src/postgres_url.ts";
import { DatabaseUnavailable } from "../src/db/sql.ts";
import { selfSigned } from "./support/self_signed.ts";
import { until } from "./support/server_process.ts";
import {
  findPostgresBinaries,
  startPostgres,
  type ThrowawayPostgres,
} from "./support/throwaway_postgres.ts";

const OPTIONS = { connectionsMax: 1, statementTimeoutMs: 15_000, applicationName: "tests" };
const IS_ENCRYPTED = "SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()";

async function ask(url: string, ...statements: string[]) {
  const sql = openPostgres(url, OPTIONS);
  try {
    for (const statement of statements) await sql.query(statement);
    return await sql.query(IS_ENCRYPTED);
  } finally {
    await sql.close();
  }
}

/** Lets the server speak TLS, with a certificate for localhost. @returns the certificate's file */
async function encrypt(server: ThrowawayPostgres): Promise<string> {
  const { cert, key } = await selfSigned();
  const [certificateFile, keyFile] = [join(server.dataDir, "a.crt"), join(server.dataDir, "a.key")];
  await Deno.writeTextFile(certificateFile, cert);
  await Deno.writeTextFile(keyFile, key, { mode: 0o600 });
  const { uid, gid } = await Deno.stat(server.dataDir);
  for (const file of [certificateFile, keyFile]) await Deno.chown(file, uid, gid);
  await ask(
    server.url,
    `ALTER SYSTEM SET ssl_cert_file = '${certificateFile}'`,
    `ALTER SYSTEM SET ssl_key_file = '${keyFile}'`,
    "ALTER SYSTEM SET ssl = on",
    "SELECT pg_reload_conf()",
  );
  const required = `${server.url}?sslmode=require`;
  await until(20_000, () => ask(required).then(() => true, () => false), "TLS");
  return certificateFile;
}

Deno.test("postgresTarget: a password that is not percent-encoded is reported without showing it", () => {
  const starts = ["/s3c", "12/s3c", "#s3c", "?s3c", "12?s3c"];
  for (const password of ["s3c%ret", "s3c#ret", "s3c/ret", "s3c?ret", ...starts]) {
    assert.throws(() => postgresTarget(`postgres://a:${password}@x/y`), (error: Error) => {
      assert.match(
        error.message,
        /^must be a URL such as postgres:.*; in user and password % is %25/,
      );
      return !error.message.includes("s3c");
    });
    postgresTarget(`postgres://a:${encodeURIComponent(password)}@x/y`);
  }
});

Deno.test("postgresTarget: an IPv6 address is kept out of the URL for the driver, with its port", () => {
  const ipv6 = "2001:db8::7";
  for (const rest of [":6543/b", "/b?prepare=false", "/b"]) {
    const target = postgresTarget(`postgres://a:p%C3%A9@[${ipv6}]${rest}`);
    assert.deepEqual(target, { url: `postgres://a:p%C3%A9@ipv6${rest}`, ipv6 });
  }
});

Deno.test("postgresTarget: target_session_attrs is taken as libpq takes it", () => {
  const of = (attrs: string) =>
    postgresTarget(`postgres://a@one,two/b?target_session_attrs=${attrs}`).url;
  const hosts = "postgres://a@one,two/b";
  // A standby is no session that may write, whatever its default is.
  assert.equal(of("read-write"), `${hosts}?target_session_attrs=primary`);
  assert.equal(of("any"), hosts);
  for (const attrs of ["primary", "standby", "read-only", "prefer-standby"]) {
    assert.equal(of(attrs), `${hosts}?target_session_attrs=${attrs}`);
  }
  for (const attrs of ["master", ""]) {
    assert.throws(
      () => of(attrs),
      /has a target_session_attrs that must be one of any, read-write/,
    );
  }
});

Deno.test({
  name: "sslrootcert: the server's certificate and its name are verified [postgres]",
  ignore: findPostgresBinaries() === null && Deno.env.get("CI") !== "true",
  async fn() {
    const server = await startPostgres();
    try {
      const root = await encrypt(server);
      const named = server.url.replace("127.0.0.1", "localhost");
      for (const mode of ["", "&sslmode=require", "&sslmode=verify-full"]) {
        assert.deepEqual(await ask(`${named}?sslrootcert=${root}${mode}`), [{ ssl: true }]);
        // The certificate is not for the address.
        const byAddress = ask(`${server.url}?sslrootcert=${root}${mode}`);
        await assert.rejects(
          byAddress,
          (error) => error instanceof DatabaseUnavailable && /IP: 127\.0\.0\.1/.test(error.message),
        );
      }
      const otherRoot = join(server.dataDir, "other.crt");
      await Deno.writeTextFile(otherRoot, (await selfSigned()).cert);
      // Nobody whom the system believes vouches for it, nor does another's certificate.
      for (
        const unknown of ["sslrootcert=system", "sslmode=verify-full", `sslrootcert=${otherRoot}`]
      ) {
        await assert.rejects(ask(`${named}?${unknown}`), DatabaseUnavailable);
      }
    } finally {
      await server.remove();
    }
  },
});

Deno.test("sslrootcert: a URL without one is left as it is", () => {
  const url = "postgres://a:p%C3%A9@one,two/b?sslmode=verify-full&prepare=false";
  assert.deepEqual(postgresTarget(url), { url });
});
