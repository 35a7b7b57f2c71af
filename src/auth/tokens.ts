import { createPublicKey, type KeyObject } from "node:crypto";
import {
  createRemoteJWKSet,
  errors,
  type JWTPayload,
  jwtVerify,
  type JWTVerifyGetKey,
  type JWTVerifyOptions,
  SignJWT,
} from "jose";
import type { Sql } from "../db/sql.ts";
import {
  JWT_SECRET_BYTES_MIN,
  RETRY_AFTER_S,
  TOKEN_KEYS_BELIEVED_MS,
  TOKEN_KEYS_FETCH_MS_MAX,
  TOKEN_KEYS_PAUSE_MS,
  TOKEN_LEEWAY_S,
} from "../limits.ts";
import { Problem } from "../problem.ts";
import { type Principal, type SessionClaim, type ShareClaim, unauthorized } from "./access.ts";
import { sharedSecret } from "./shared_secret.ts";
import type { TokenEpoch, TokenEpochs } from "./token_epochs.ts";

/** Where the key that signs the tokens comes from: at most one of the first three is set. */
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

/** What a token to be issued says. */
export interface TokenGrant {
  readonly subject: string;
  readonly projects: readonly string[] | "*";
  readonly scopes: readonly string[];
  readonly ttlSeconds: number;
  /** The token expires by then, whatever `ttlSeconds` says; absent: no such end. */
  readonly expiresByMs?: number;
  /** The session that it stands on; absent: none. */
  readonly session?: SessionClaim | undefined;
  /** Whether the session's person hands it out, to whomever; absent: they use it themselves. */
  readonly isHandedOut?: boolean;
  /** The API token that it is, or that it is made with; absent: none. */
  readonly listed?: string | undefined;
  /** The epoch in which it is issued; absent: the one that holds now. */
  readonly epoch?: number;
  /** The share that it reads; absent: none. */
  readonly share?: ShareClaim | undefined;
}

export interface Tokens {
  /**
   * Throws `invalid_token`, `expired_token` (401), `token_keys_unavailable` (503) and
   * `DatabaseUnavailable`: a failure to find the key, or to learn of revocations, is never blamed on
   * the token.
   */
  verify(token: string): Promise<Principal>;
  /** A signed token, which outlives no revocation. Throws `conflict` where `canIssue` is false. */
  issue(grant: TokenGrant): Promise<string>;
  readonly canIssue: boolean;
}

/** How tokens are judged: the algorithms are the configuration's, whatever a token's header says. */
interface Judge {
  readonly algorithms: string[];
  key(): Promise<Uint8Array | KeyObject | JWTVerifyGetKey>;
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

function remoteKeys(jwksUrl: string): JWTVerifyGetKey {
  const keys = createRemoteJWKSet(new URL(jwksUrl), {
    timeoutDuration: TOKEN_KEYS_FETCH_MS_MAX,
    cacheMaxAge: TOKEN_KEYS_BELIEVED_MS,
    cooldownDuration: TOKEN_KEYS_PAUSE_MS,
  });
  return async (header, token) => {
    try {
      return await keys(header, token);
    } catch (cause) {
      const answered = cause instanceof errors.JWKSNoMatchingKey ||
        cause instanceof errors.JWKSMultipleMatchingKeys;
      if (answered) throw cause;
      throw new Problem(
        "token_keys_unavailable",
        "The keys at JWT_JWKS_URL cannot be fetched, so the token cannot be judged. Try again shortly.",
        { headers: { "Retry-After": String(RETRY_AFTER_S) }, cause },
      );
    }
  };
}

function judgeOf(config: JwtConfig, sql: Sql): Judge {
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

/** The claim in which tokens of our own carry the epoch in which they were issued. */
const EPOCH_CLAIM = "epoch";

/** The claim in which they name the session that they stand on. Those of others may mean anything by it. */
const SESSION_CLAIM = "session";
const SESSION_ID = /^ses_[A-Za-z0-9]{1,60}$/;
/** The claim in which a token says that the session's person handed it out. */
const HANDED_OUT_CLAIM = "handedOut";
/** What the `jti` of our own API tokens is. */
const LISTED_ID = /^tok_[A-Za-z0-9]{1,60}$/;

/** The API token that a token of our own is, or was made with. */
function listedOf({ jti, [EPOCH_CLAIM]: epoch }: JWTPayload): string | undefined {
  return typeof epoch === "number" && jti !== undefined && LISTED_ID.test(jti) ? jti : undefined;
}

/** The session that a token of our own stands on. Throws `invalid_token` where it names none rightly. */
function sessionClaimOf(claims: JWTPayload): SessionClaim | undefined {
  const claim = claims[SESSION_CLAIM];
  if (claim === undefined || typeof claims[EPOCH_CLAIM] !== "number") return undefined;
  const { id, rights } = Object(claim);
  if (typeof id === "string" && SESSION_ID.test(id) && typeof rights === "number") {
    return { id, rights };
  }
  throw invalid("`session` must name a session.");
}

/** The claim in which they name the share that they read. */
const SHARE_CLAIM = "share";
const SHARE_ID = /^shr_[A-Za-z0-9]{1,60}$/;

/** The share that a token of our own reads. Throws `invalid_token` where it names none rightly. */
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
 * The epoch of a token. Throws `invalid_token` for an earlier one. Our own say theirs, so that clocks
 * have no part in it. Others are told by `iat`; one without it is from nobody knows when.
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

/** Throws `invalid_token` where the tokens of a principal's epoch hold no more. */
export function assertOfEpoch({ epoch }: Pick<Principal, "epoch">, latest: number): void {
  if (epoch !== undefined && epoch < latest) throw revoked();
}

/** The claims of a token whose signature holds. */
function principalOf(claims: JWTPayload, nowMs: number): Principal {
  const { sub = "", exp, iat, scope = "", projects = [] } = claims;
  if (exp === undefined || !(exp <= EXPIRY_S_MAX)) throw invalid("`exp` must be a time.");
  const expiresAtMs = exp * 1000;
  if (nowMs >= expiresAtMs) throw expired();
  // Our own say their epoch, and stay good when the clock is turned back.
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
  const listed = listedOf(claims);
  const share = shareClaimOf(claims);
  return {
    ...(session === undefined ? {} : { session }),
    ...(claims[HANDED_OUT_CLAIM] === true ? { isHandedOut: true } : {}),
    ...(listed === undefined ? {} : { listed }),
    ...(share === undefined ? {} : { share }),
    subject: sub,
    scopes: new Set(scope.split(" ").filter((word) => word !== "")),
    projects: named.includes("*") ? "*" : [...new Set(named)],
    expiresAtMs,
  };
}

/** What the library's refusal means to the caller; anything else is not the token's fault. */
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
 * Verifies tokens, and issues them where the key is a secret. Without any configuration the secret
 * is random and kept in the database, made when it is first needed. `now` is in epoch milliseconds.
 *
 * `exp` is exact, so that the session's end is what it says; `nbf` and `iat` get 30 s for clocks
 * that disagree; of our own tokens `iat` is not looked at. `iss` and `aud` are checked where configured. Throws on a key that cannot be used.
 */
export function createTokens(
  config: JwtConfig,
  sql: Sql,
  now: () => number,
  epochs: Pick<TokenEpochs, "believed" | "latest">,
): Tokens {
  const judge = judgeOf(config, sql);
  const canIssue = config.jwksUrl === null && config.publicKey === null;

  function options(nowMs: number): JWTVerifyOptions {
    return {
      algorithms: judge.algorithms,
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
      const key = await judge.key();
      const nowMs = now();
      try {
        const { payload } = typeof key === "function"
          ? await jwtVerify(token, key, options(nowMs))
          : await jwtVerify(token, key, options(nowMs));
        const principal = principalOf(payload, nowMs);
        return { ...principal, epoch: epochOf(payload, await epochs.believed()) };
      } catch (error) {
        throw refusal(error);
      }
    },
    async issue(grant) {
      const { subject, projects, scopes, ttlSeconds, expiresByMs = Infinity } = grant;
      const key = await judge.key();
      if (!canIssue || !(key instanceof Uint8Array)) {
        throw issuedElsewhere();
      }
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
      if (grant.listed !== undefined) token.setJti(grant.listed);
      if (config.issuer !== null) token.setIssuer(config.issuer);
      if (config.audience !== null) token.setAudience(config.audience);
      return token.sign(key);
    },
  };
}
