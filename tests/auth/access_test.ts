import assert from "node:assert/strict";
import {
  type Access,
  createAuthorize,
  type Principal,
  requireEveryProject,
  requirePrincipal,
  resolveProject,
  SCOPES,
} from "../../src/auth/access.ts";
import { Problem } from "../../src/problem.ts";

function principal(scopes: string[], projects: readonly string[] | "*"): Principal {
  return { subject: "somebody", scopes: new Set(scopes), projects, expiresAtMs: 1 };
}

function asking(authorization?: string): Request {
  const headers = new Headers();
  if (authorization !== undefined) headers.set("Authorization", authorization);
  return new Request("http://footfall.test/", { headers });
}

function refused(code: string, header: RegExp | null = null) {
  return (error: unknown) => {
    assert.ok(error instanceof Problem);
    assert.equal(error.code, code);
    if (header !== null) assert.match(error.options.headers?.["WWW-Authenticate"] ?? "", header);
    return true;
  };
}

const NEVER = () => Promise.reject(new Error("The token must not be looked at"));

Deno.test("createAuthorize: open and key routes ignore tokens", async () => {
  const authorize = createAuthorize(NEVER);
  assert.equal(await authorize("open", asking("Bearer x"), null), null);
  assert.equal(await authorize("key", asking("Bearer x"), null), null);
});

Deno.test("createAuthorize: without a token it is missing_token, with a challenge without an error", async () => {
  const authorize = createAuthorize(NEVER);
  for (const header of [undefined, "", "Basic dXNlcjpwYXNz", "Bearerx", "token abc"]) {
    await assert.rejects(
      authorize("session", asking(header), null),
      refused("missing_token", /^Bearer realm="footfall"$/),
    );
  }
});

Deno.test("createAuthorize: what cannot be a token is invalid_token before it is verified", async () => {
  const authorize = createAuthorize(NEVER);
  for (const header of ["Bearer", "Bearer a b", 'Bearer "a"', `Bearer ${"a".repeat(8200)}`]) {
    await assert.rejects(
      authorize("session", asking(header), null),
      refused("invalid_token", /^Bearer realm="footfall", error="invalid_token", error_desc/),
    );
  }
});

Deno.test("createAuthorize: the scheme is case-insensitive and the token arrives whole", async () => {
  const somebody = principal([], []);
  for (const scheme of ["Bearer", "bearer", "BEARER "]) {
    const authorize = createAuthorize((token) => {
      assert.equal(token, "a.b-c_d.e");
      return Promise.resolve(somebody);
    });
    assert.equal(await authorize("session", asking(`${scheme} a.b-c_d.e`), null), somebody);
  }
});

Deno.test("createAuthorize: a scope allows only its own routes", async () => {
  for (const scope of SCOPES) {
    const authorize = createAuthorize(() => Promise.resolve(principal([scope], "*")));
    for (const access of SCOPES satisfies readonly Access[]) {
      const asked = authorize(access, asking("Bearer x"), null);
      // What shares may read, whoever reads may too; without a share the scope `aggregates` is none.
      const needed = access === "aggregates" ? "read" : access;
      if (needed === scope) {
        assert.ok(await asked);
        continue;
      }
      const header = new RegExp(`error="insufficient_scope", scope="${needed}"$`);
      await assert.rejects(asked, refused("insufficient_scope", header));
      await assert.rejects(asked, new RegExp(`\`${needed}\``));
    }
  }
});

Deno.test("resolveProject: the named one of the token, else its only one", () => {
  const one = principal(["read"], ["prj_a"]);
  const two = principal(["read"], ["prj_a", "prj_b"]);
  const all = principal(["read"], "*");
  assert.equal(resolveProject(one, null), "prj_a");
  assert.equal(resolveProject(two, "prj_b"), "prj_b");
  assert.equal(resolveProject(all, "prj_z"), "prj_z");
  assert.throws(() => resolveProject(one, "prj_b"), refused("insufficient_scope"));
  for (const unclear of [two, all, principal(["read"], [])]) {
    assert.throws(() => resolveProject(unclear, null), refused("project_required"));
    assert.throws(() => resolveProject(unclear, ""), refused("project_required"));
  }
});

Deno.test("requireEveryProject: only a token for all projects passes", () => {
  requireEveryProject(principal([], "*"));
  assert.throws(
    () => requireEveryProject(principal([], ["prj_a"])),
    refused("insufficient_scope"),
  );
});

Deno.test("requirePrincipal: throws if the route requires no token", () => {
  assert.throws(() => requirePrincipal(null));
});
