/** Its tenants are configured by a name, `common` among them, and tell a number: the host alone is compared. */
const BY_HOST = /^login\.microsoftonline\.com$|\.b2clogin\.com$/;

/**
 * What is the same of the provider that is configured and of what it calls itself in its answers, as far
 * as `openid-client` accepts them as one: a slash at the end, and the way to its metadata, make no other.
 */
export function providerOf(issuer: string): string {
  const url = URL.parse(issuer);
  if (url === null) return issuer;
  if (BY_HOST.test(url.hostname)) return url.origin;
  return url.href.replace(/\/?(?:\.well-known\/.*)?$/, "");
}
