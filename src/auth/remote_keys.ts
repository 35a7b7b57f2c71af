import { createRemoteJWKSet, customFetch, errors, type JWTVerifyGetKey } from "jose";
import { TOKEN_KEYS_CACHED_MS, TOKEN_KEYS_FETCH_MS_MAX, TOKEN_KEYS_PAUSE_MS } from "../limits.ts";
import { Problem, retryable } from "../problem.ts";

function notFetched(cause: unknown): Problem {
  return retryable(
    "token_keys_unavailable",
    "The keys at JWT_JWKS_URL cannot be fetched, so the token cannot be checked. Try again shortly.",
    cause,
  );
}

function notFetchedSince(waitMs: number): Problem {
  return new Problem(
    "token_keys_unavailable",
    "The token is signed with a key that JWT_JWKS_URL did not have a few seconds ago. Try again shortly.",
    { headers: { "Retry-After": String(Math.ceil(waitMs / 1000)) } },
  );
}

/**
 * Returns what finds the key of a token in an identity provider's key set. The set is fetched again if it is
 * old, and for a token whose key it does not have, since the provider may have begun to use a new one. Whoever makes
 * up key ids does not cause more than one fetch in TOKEN_KEYS_PAUSE_MS.
 *
 * What it returns throws JWKSNoMatchingKey only if a fetch that began after the call did not have the key, and
 * `token_keys_unavailable` (503) if that is not known.
 * @param clockMs a clock that is never set
 */
export function remoteKeys(jwksUrl: string, clockMs = () => performance.now()): JWTVerifyGetKey {
  /** When the latest fetch began, unless it has failed. */
  let fetchedAtMs = -Infinity;
  let pausedUntilMs = -Infinity;
  const keys = createRemoteJWKSet(new URL(jwksUrl), {
    timeoutDuration: TOKEN_KEYS_FETCH_MS_MAX,
    cacheMaxAge: TOKEN_KEYS_CACHED_MS,
    // It never fetches the set for an unknown key by itself: it would do so without a pause while fetches fail.
    cooldownDuration: Infinity,
    [customFetch]: (...request) => {
      fetchedAtMs = clockMs();
      return fetch(...request);
    },
  });

  const find: JWTVerifyGetKey = async (header, token) => {
    const askedAtMs = clockMs();
    for (;;) {
      try {
        return await keys(header, token);
      } catch (error) {
        const isUnknown = error instanceof errors.JWKSNoMatchingKey;
        if (!isUnknown || (!keys.reloading && fetchedAtMs >= askedAtMs)) throw error;
      }
      if (!keys.reloading) {
        const waitMs = pausedUntilMs - clockMs();
        if (waitMs > 0) throw notFetchedSince(waitMs);
        pausedUntilMs = clockMs() + TOKEN_KEYS_PAUSE_MS;
      }
      await keys.reload();
    }
  };

  return async (header, token) => {
    try {
      return await find(header, token);
    } catch (error) {
      const isKnown = error instanceof Problem || error instanceof errors.JWKSNoMatchingKey ||
        error instanceof errors.JWKSMultipleMatchingKeys;
      if (isKnown) throw error;
      fetchedAtMs = -Infinity;
      throw notFetched(error);
    }
  };
}
