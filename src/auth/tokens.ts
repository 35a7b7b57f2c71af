import { createPublicKey, type KeyObject } from "node:crypto";
import { errors, type JWTPayload, jwtVerify, type JWTVerifyOptions, SignJWT } from "jose";
import type { Sql } from "../db/sql.ts";
import { JWT_SECRET_BYTES_MIN, TOKEN_LEEWAY_S } from "../limits.ts";
import { Problem } from "../problem.ts";
import { type Principal, type SessionClaim, type ShareClaim, unauthorized } from "./access.ts";
import { type RemoteKeys, remoteKeys } from "./remote_keys.ts";
import { sharedSecret } from "./shared_secret.ts";
import type { TokenEpoch, TokenEpochs } from "./token_epochs.ts";

/** The key that tokens are signed with, from at most one of the first three. */
export interface JwtConfig {
  /** At least 8 bytes, better 32 (RFC 7518, section 3.2); tokens are HS256. */
  readonly secret: string | null;
  /** An identity provider's key set; tokens are RS256, ES256 or EdDSA. */
  readonly jwksUrl: string | null;
  /** PEM (SPKI) or JWK as JSON; tokens have the one algorithm of its type. */
  readonly publicKey: string | null;
  readonly issuer: string | null;
  readonly audience: string | null;
}

/** What a new token is to say. */
export interface TokenGrant {
  readonly subject: string;
  readonly projects: readonly string[] | "*";
  readonly scopes: readonly string[];
  readonly ttlSeconds: number;
  /** The token expires by then, even if `ttlSeconds` is longer; absent: no such limit. */
  readonly expiresByMs?: number;
  /** As in `Principal`; absent: none. */
  readonly session?: SessionClaim | undefined;
  readonly isHandedOut?: boolean;
  readonly apiTokenId?: string | undefined;
  readonly share?: ShareClaim | undefined;
  /** The epoch in which it is issued; absent: the latest. */
  readonly epoch?: number;
}

export interface Tokens {
  /**
   * Throws `invalid_token`, `expired_token` (401), `token_keys_unavailable` (503) and `DatabaseUnavailable`: a
   * token does not count as invalid because its key or the revocations could not be read.
   */
  verify(token: string): Promise<Principal>;
  /** Returns a signed token of an epoch. Throws `conflict` if `canIssue` is false. */
  issue(grant: TokenGrant): Promise<string>;
  readonly canIssue: boolean;
}

/** How signatures are verified: by the configured algorithms, whatever a token's header says. */
interface Verification {
  readonly algorithms: string[];
  key(): Promise<Uint8Array | KeyObject | RemoteKeys>;
}

/** The last instant a JavaScript date can hold, in seconds. */
const EXPIRY_S_MAX = 8.64e12;
const PROJECT_CLAIM = /^[\x21-\x7e]{1,200}$/;

function publicKeyOf(text: string): { key: KeyObject; algorithm: string } {
  let key: KeyObject;
  try {
    key = text.trimStart().startsWith("{")
      ? createPublicKey({ key: JSON.parse(text), format: "jwk" })
      : createPublicKey(text);
  } catch (cause) {
    throw new Error("JWT_PUBLIC_KEY must be a public key: PEM, or a JWK as JSON", { cause });
  }
  const details = key.asymmetricKeyDetails ?? {};
  if (key.asymmetricKeyType === "rsa" && (details.modulusLength ?? 0) >= 2048) {
    return { key, algorithm: "RS256" };
  }
  if (key.asymmetricKeyType === "ec" && details.namedCurve === "prime256v1") {
    return { key, algorithm: "ES256" };
  }
  if (key.asymmetricKeyType === "ed25519") return { key, algorithm: "EdDSA" };
  throw new Error("JWT_PUBLIC_KEY must be RSA (2048 bits or more), EC P-256 or Ed25519");
}

function verificationOf(config: JwtConfig, sql: Sql): Verification {
  const { secret, jwksUrl, publicKey } = config;
  if ([secret, jwksUrl, publicKey].filter((value) => value !== null).length > 1) {
    throw new Error("Set only one of JWT_SECRET, JWT_JWKS_URL and JWT_PUBLIC_KEY");
  }
  if (jwksUrl !== null) {
    const keys = remoteKeys(jwksUrl);
    return { algorithms: ["RS256", "ES256", "EdDSA"], key: () => Promise.resolve(keys) };
  }
  if (publicKey !== null) {
    const { key, algorithm } = publicKeyOf(publicKey);
    return { algorithms: [algorithm], key: () => Promise.resolve(key) };
  }
  if (secret === null) return { algorithms: ["HS256"], key: sharedSecret(sql, "jwt_secret") };
  const bytes = new TextEncoder().encode(secret);
  if (bytes.length < JWT_SECRET_BYTES_MIN) {
    throw new Error(`JWT_SECRET must be at least ${JWT_SECRET_BYTES_MIN} bytes long`);
  }
  return { algorithms: ["HS256"], key: () => Promise.resolve(bytes) };
}

function invalid(detail: string, cause?: unknown): Problem {
  return unauthorized("invalid_token", detail, cause);
}

/** `conflict`: this server only verifies tokens. */
export function issuedElsewhere(): Problem {
  return new Problem(
    "conflict",
    "Tokens are issued by the identity provider that this server is configured for.",
  );
}

function expired(cause?: unknown): Problem {
  return unauthorized("expired_token", "The token has expired. Get a new one.", cause);
}

/**
 * The claim with the epoch in which a token was issued. It marks the tokens of this deployment: in those of an
 * identity provider, the claims below could mean anything.
 */
const EPOCH_CLAIM = "epoch";

/** The session that a token depends on. */
const SESSION_CLAIM = "session";
const SESSION_ID = /^ses_[A-Za-z0-9]{1,60}$/;
/** Whether the session's person issued the token for use elsewhere. */
const HANDED_OUT_CLAIM = "handedOut";
/** The `jti` of API tokens. */
const API_TOKEN_ID = /^tok_[A-Za-z0-9]{1,60}$/;

/** The id of the API token that one of our tokens is, or was made with. */
function apiTokenIdOf({ jti, [EPOCH_CLAIM]: epoch }: JWTPayload): string | undefined {
  return typeof epoch === "number" && jti !== undefined && API_TOKEN_ID.test(jti) ? jti : undefined;
}

/** The session that one of our tokens depends on. Throws `invalid_token` if the claim is malformed. */
function sessionClaimOf(claims: JWTPayload): SessionClaim | undefined {
  const claim = claims[SESSION_CLAIM];
  if (claim === undefined || typeof claims[EPOCH_CLAIM] !== "number") return undefined;
  const { id, rights } = Object(claim);
  if (typeof id === "string" && SESSION_ID.test(id) && typeof rights === "number") {
    return { id, rights };
  }
  throw invalid("`session` must name a session.");
}

/** The share that a token may read. */
const SHARE_CLAIM = "share";
const SHARE_ID = /^shr_[A-Za-z0-9]{1,60}$/;

/** The share that one of our tokens may read. Throws `invalid_token` if the claim is malformed. */
function shareClaimOf(claims: JWTPayload): ShareClaim | undefined {
  const claim = claims[SHARE_CLAIM];
  if (claim === undefined || typeof claims[EPOCH_CLAIM] !== "number") return undefined;
  const { id, epoch } = Object(claim);
  if (typeof id === "string" && SHARE_ID.test(id) && typeof epoch === "number") {
    return { id, epoch };
  }
  throw invalid("`share` must name a share.");
}

/**
 * Returns the epoch of a token. Throws `invalid_token` if it is an earlier one. Our tokens name their epoch, which
 * depends on no clock. Those of an identity provider are compared by `iat`; one without it is of an earlier
 * epoch.
 */
function epochOf(claims: JWTPayload, { number, begunAtMs }: TokenEpoch): number {
  const { iat } = claims;
  const own = claims[EPOCH_CLAIM];
  if (typeof own === "number") assertOfEpoch({ epoch: own }, number);
  else if (begunAtMs !== null && (iat ?? 0) * 1000 <= begunAtMs) throw revoked();
  return typeof own === "number" ? own : number;
}

function revoked(): Problem {
  return invalid("The token has been revoked. Get a new one.");
}

/** Throws `invalid_token` if the tokens of a principal's epoch have been revoked. */
export function assertOfEpoch({ epoch }: Pick<Principal, "epoch">, latest: number): void {
  if (epoch !== undefined && epoch < latest) throw revoked();
}

/** Reads the claims of a token whose signature is valid. */
function principalOf(claims: JWTPayload, nowMs: number): Principal {
  const { sub = "", exp, iat, scope = "", projects = [] } = claims;
  if (exp === undefined || !(exp <= EXPIRY_S_MAX)) throw invalid("`exp` must be a time.");
  const expiresAtMs = exp * 1000;
  if (nowMs >= expiresAtMs) throw expired();
  // Our own tokens stay valid when the clock is set back.
  const isOwn = typeof claims[EPOCH_CLAIM] === "number";
  if (!isOwn && iat !== undefined && iat > nowMs / 1000 + TOKEN_LEEWAY_S) {
    throw invalid("`iat` lies in the future.");
  }
  if (typeof sub !== "string") throw invalid("`sub` must be text.");
  if (typeof scope !== "string") throw invalid("`scope` must be text, separated by spaces.");
  const named: unknown[] | null = Array.isArray(projects) ? projects : null;
  const isId = (id: unknown): id is string => typeof id === "string" && PROJECT_CLAIM.test(id);
  if (named === null || !named.every(isId)) {
    throw invalid("`projects` must be an array of project ids.");
  }
  const session = sessionClaimOf(claims);
  const apiTokenId = apiTokenIdOf(claims);
  const share = shareClaimOf(claims);
  return {
    ...(session === undefined ? {} : { session }),
    ...(claims[HANDED_OUT_CLAIM] === true ? { isHandedOut: true } : {}),
    ...(apiTokenId === undefined ? {} : { apiTokenId }),
    ...(share === undefined ? {} : { share }),
    subject: sub,
    scopes: new Set(scope.split(" ").filter((word) => word !== "")),
    projects: named.includes("*") ? "*" : [...new Set(named)],
    expiresAtMs,
  };
}

/** Converts the library's errors about a token to problems; other errors are returned as they are. */
function refusal(error: unknown): unknown {
  if (error instanceof errors.JWTExpired) return expired(error);
  if (error instanceof errors.JWTClaimValidationFailed) {
    return invalid(`The claim \`${error.claim}\` is missing or not the one expected here.`, error);
  }
  if (error instanceof errors.JWKSMultipleMatchingKeys) {
    return invalid("Several keys could have signed the token: it must name its `kid`.", error);
  }
  if (error instanceof errors.JOSEError) {
    return invalid("It is not a token that this server's configuration accepts.", error);
  }
  return error;
}

/**
 * Verifies tokens, and issues them if the key is a secret. Without configuration, the secret is random, made when
 * it is first needed, and stored in the database. `now` is in epoch milliseconds.
 *
 * `exp` is exact, as replies show it; `nbf` and `iat` get 30 s for clocks that disagree, and `iat` of our own
 * tokens is ignored. `iss` and `aud` are checked if they are configured. Throws if the configured key is unusable.
 */
export function createTokens(
  config: JwtConfig,
  sql: Sql,
  now: () => number,
  epochs: Pick<TokenEpochs, "cached" | "latest">,
): Tokens {
  const { algorithms, key: keyOf } = verificationOf(config, sql);
  const canIssue = config.jwksUrl === null && config.publicKey === null;

  function options(nowMs: number): JWTVerifyOptions {
    return {
      algorithms,
      requiredClaims: ["exp"],
      clockTolerance: TOKEN_LEEWAY_S,
      currentDate: new Date(nowMs),
      ...(config.issuer === null ? {} : { issuer: config.issuer }),
      ...(config.audience === null ? {} : { audience: config.audience }),
    };
  }

  return {
    canIssue,
    async verify(token) {
      const key = await keyOf();
      const nowMs = now();
      try {
        const { payload } = "verify" in key
          ? await key.verify(token, options(nowMs))
          : await jwtVerify(token, key, options(nowMs));
        const principal = principalOf(payload, nowMs);
        return { ...principal, epoch: epochOf(payload, await epochs.cached()) };
      } catch (error) {
        throw refusal(error);
      }
    },
    async issue(grant) {
      const { subject, projects, scopes, ttlSeconds, expiresByMs = Infinity } = grant;
      const key = await keyOf();
      if (!canIssue || !(key instanceof Uint8Array)) throw issuedElsewhere();
      const epoch = grant.epoch ?? (await epochs.latest()).number;
      const issuedAt = Math.floor(now() / 1000);
      const token = new SignJWT({
        scope: scopes.join(" "),
        projects: projects === "*" ? ["*"] : [...projects],
        [EPOCH_CLAIM]: epoch,
        ...(grant.session === undefined ? {} : { [SESSION_CLAIM]: grant.session }),
        ...(grant.isHandedOut === true ? { [HANDED_OUT_CLAIM]: true } : {}),
        ...(grant.share === undefined ? {} : { [SHARE_CLAIM]: grant.share }),
      }).setProtectedHeader({ alg: "HS256", typ: "JWT" }).setSubject(subject)
        .setIssuedAt(issuedAt)
        .setExpirationTime(Math.min(issuedAt + ttlSeconds, Math.floor(expiresByMs / 1000)));
      if (grant.apiTokenId !== undefined) token.setJti(grant.apiTokenId);
      if (config.issuer !== null) token.setIssuer(config.issuer);
      if (config.audience !== null) token.setAudience(config.audience);
      return token.sign(key);
    },
  };
}
