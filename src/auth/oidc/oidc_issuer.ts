/** A tenant of theirs may be configured by a name, `common` among them, and tells its number. */
const BY_TENANT = /^login\.microsoftonline\.com$|\.b2clogin\.com$/;
const NUMBER = /^\/[\da-f]{8}-[\da-f-]{27}(?:\/|$)/i;

/** A slash at the end, and the way to its metadata, make no other provider. */
function plainIssuer(issuer: string): string {
  return (URL.parse(issuer)?.href ?? issuer).replace(/\/?(?:\.well-known\/.*)?$/, "");
}

/**
 * Whether an issuer, as tokens tell it, is the provider that is configured, as far as `openid-client` accepts
 * them as one.
 */
export function isOfProvider(issuer: string, configured: string): boolean {
  const provider = URL.parse(configured);
  const isByName = provider !== null && BY_TENANT.test(provider.hostname) &&
    !NUMBER.test(provider.pathname);
  if (isByName) return URL.parse(issuer)?.origin === provider.origin;
  return plainIssuer(issuer) === plainIssuer(configured);
}
