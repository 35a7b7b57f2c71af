import { gunzipSync } from "node:zlib";
import { type Access, createAuthorize, type Principal } from "../../src/auth/access.ts";
import {
  deleteApiToken,
  getApiTokens,
  postApiToken,
} from "../../src/auth/api_tokens/api_token_endpoints.ts";
import { createLiveApiTokens } from "../../src/auth/api_tokens/live_api_tokens.ts";
import { getAudit } from "../../src/auth/audit_endpoint.ts";
import { deleteKey, getKeys, postKey, postKeyRotation } from "../../src/auth/key_endpoints.ts";
import { createKeyDirectory, type KeyDirectory } from "../../src/auth/keys.ts";
import { createLiveSessions } from "../../src/auth/people/live_sessions.ts";
import {
  getProject,
  getProjects,
  patchProjectById,
  postProject,
} from "../../src/auth/project_endpoints.ts";
import { deleteTokens, getSession, postToken } from "../../src/auth/session_endpoints.ts";
import {
  createTokens,
  type JwtConfig,
  type TokenGrant,
  type Tokens,
} from "../../src/auth/tokens.ts";
import { createTokenEpochs, type TokenEpochs } from "../../src/auth/token_epochs.ts";
import type { Database, Param, Row, Sql } from "../../src/db/sql.ts";
import { createClientAddress } from "../../src/http/client_address.ts";
import { createCors } from "../../src/http/cors.ts";
import { createLog } from "../../src/http/log.ts";
import { createRouter, type Route } from "../../src/http/router.ts";
import type { TestDatabase } from "../support/databases.ts";
import { withMembers } from "../support/fake_sql.ts";

export const SECRET = "a secret of more than thirty-two bytes";
export const NOTHING_CONFIGURED: JwtConfig = {
  secret: null,
  jwksUrl: null,
  publicKey: null,
  issuer: null,
  audience: null,
};
export const SILENT = createLog({
  level: "error",
  format: "json",
  colour: false,
  now: Date.now,
  write: (line) => {
    throw new Error(`Nothing should be logged: ${line}`);
  },
});

const EPOCH_0 = { number: 0, begunAtMs: null };
/** No token was ever revoked. */
export const NEVER_REVOKED: Pick<TokenEpochs, "cached" | "latest"> = {
  cached: () => Promise.resolve(EPOCH_0),
  latest: () => Promise.resolve(EPOCH_0),
};

/** The database with its tables. */
export async function openMigrated(db: TestDatabase): Promise<Database> {
  return await db.open();
}

/** The same database, counting what is asked of it; `slow` holds each answer back by so many ms. */
export function counted(sql: Sql, slowMs = 0): Sql & { queries: number } {
  const query = async <R extends Row>(text: string, params?: readonly Param[]) => {
    counting.queries++;
    const rows = await sql.query<R>(text, params);
    if (slowMs > 0) await new Promise((resolve) => setTimeout(resolve, slowMs));
    return rows;
  };
  const counting = Object.assign(withMembers(sql, { query }), { queries: 0 });
  return counting;
}

export interface Answer {
  readonly status: number;
  // deno-lint-ignore no-explicit-any -- replies are read as a client would
  readonly body: any;
  readonly headers: Headers;
}

export interface AuthServer {
  readonly tokens: Tokens;
  readonly keys: KeyDirectory;
  /** `token` undefined: none is sent. A stream is sent as it comes, anything else as JSON. */
  call(method: string, path: string, token?: string, body?: unknown): Promise<Answer>;
  grant(grant?: Partial<TokenGrant>): Promise<string>;
}

/** The endpoints behind a real router, without a socket. */
export function authServer(sql: Sql, options: {
  readonly now?: () => number;
  readonly jwt?: Partial<JwtConfig>;
  readonly basePath?: string;
} = {}): AuthServer {
  const now = options.now ?? Date.now;
  const epochs = createTokenEpochs(sql, now);
  const tokens = createTokens(
    { ...NOTHING_CONFIGURED, secret: SECRET, ...options.jwt },
    sql,
    now,
    epochs,
  );
  const keys = createKeyDirectory(sql, { now, log: SILENT });
  const clientAddress = createClientAddress({ kind: "none" });
  const liveApiTokens = createLiveApiTokens(sql, now);
  const liveSessions = createLiveSessions(sql, now);
  const access = { tokens, keys, epochs, liveApiTokens, liveSessions };
  const services = { sql, now, ...access, clientAddress, log: SILENT };
  const verify = async (token: string) => {
    const principal = await tokens.verify(token);
    await liveSessions.assertHolds(principal);
    await liveApiTokens.assertHolds(principal);
    return principal;
  };
  type Row = Route<Access, Principal | null>;
  type Endpoint = (s: typeof services, e: Parameters<Row["handler"]>[0]) => Promise<Response>;
  const row = (method: Row["method"], path: string, access: Access, endpoint: Endpoint): Row => ({
    method,
    path,
    access,
    handler: (exchange) => endpoint(services, exchange),
  });
  const handle = createRouter<Access, Principal | null>([
    row("GET", "/v1/session", "session", getSession),
    row("POST", "/v1/internal/tokens", "admin", postToken),
    row("DELETE", "/v1/internal/tokens", "admin", deleteTokens),
    row("GET", "/v1/projects", "admin", getProjects),
    row("POST", "/v1/projects", "admin", postProject),
    row("GET", "/v1/projects/:id", "admin", getProject),
    row("PATCH", "/v1/projects/:id", "admin", patchProjectById),
    row("GET", "/v1/tokens", "read", getApiTokens),
    row("POST", "/v1/tokens", "read", postApiToken),
    row("DELETE", "/v1/tokens/:id", "read", deleteApiToken),
    row("GET", "/v1/audit", "people", getAudit),
    row("GET", "/v1/projects/:id/keys", "admin", getKeys),
    row("POST", "/v1/projects/:id/keys", "admin", postKey),
    row("DELETE", "/v1/projects/:id/keys/:keyId", "admin", deleteKey),
    row("POST", "/v1/projects/:id/keys/:keyId/rotate", "admin", postKeyRotation),
  ], {
    basePath: options.basePath ?? "",
    cors: createCors(["*"]),
    log: createLog({ level: "error", format: "json", colour: false, now, write: console.error }),
    authorize: createAuthorize(verify),
    observe: () => {},
  });
  return {
    tokens,
    keys,
    async call(method, path, token, body) {
      const headers = new Headers({ "Accept-Encoding": "gzip" });
      if (token !== undefined) headers.set("Authorization", `Bearer ${token}`);
      if (body !== undefined) headers.set("Content-Type", "application/json");
      const init = {
        method,
        headers,
        ...(body === undefined
          ? {}
          : { body: body instanceof ReadableStream ? body : JSON.stringify(body) }),
      };
      const reply = await handle(new Request(`http://footfall.test${path}`, init), "127.0.0.1");
      const bytes = await reply.bytes();
      const isGzipped = reply.headers.get("content-encoding") === "gzip";
      const text = new TextDecoder().decode(isGzipped ? gunzipSync(bytes) : bytes);
      return {
        status: reply.status,
        body: text === "" ? null : JSON.parse(text),
        headers: reply.headers,
      };
    },
    grant: (grant = {}) =>
      tokens.issue({
        subject: "operator",
        projects: "*",
        scopes: ["admin"],
        ttlSeconds: 3600,
        ...grant,
      }),
  };
}
