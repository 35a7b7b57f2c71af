/** Microsoft's hosts: a tenant may be configured by name, such as `common`, while its tokens have its GUID. */
const BY_TENANT = /^login\.microsoftonline\.com$|\.b2clogin\.com$/;
const TENANT_ID = /^\/[\da-f]{8}-[\da-f-]{27}(?:\/|$)/i;

/** Drops a slash at the end and the path of the metadata. */
function plainIssuer(issuer: string): string {
  return (URL.parse(issuer)?.href ?? issuer).replace(/\/?(?:\.well-known\/.*)?$/, "");
}

/** Whether a token's issuer is the configured provider, by the rules of `openid-client`. */
export function isSameProvider(issuer: string, configured: string): boolean {
  const provider = URL.parse(configured);
  const isByName = provider !== null && BY_TENANT.test(provider.hostname) &&
    !TENANT_ID.test(provider.pathname);
  if (isByName) return URL.parse(issuer)?.origin === provider.origin;
  return plainIssuer(issuer) === plainIssuer(configured);
}
