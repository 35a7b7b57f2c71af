import { createHash, timingSafeEqual } from "node:crypto";
import { forwardedChain, type TrustedProxies } from "./client_address.ts";
import { type Address, cidrContains, LOOPBACK_RANGES, parseAddress } from "./ip_address.ts";

/** Headers that proxies add to the requests they forward. */
const PROXY_HEADERS = [
  "x-forwarded-for",
  "forwarded",
  "x-forwarded-host",
  "x-forwarded-proto",
  "x-real-ip",
  "via",
];
const BEARER = /^Bearer +([^ ]+) *$/i;

/** Hashes a text to a fixed length, as the constant-time comparison needs. */
const digest = (text: string) => createHash("sha256").update(text).digest();

/**
 * Makes a function that returns whether a request may read the metrics: requests from this machine and from
 * the trusted proxies themselves may, and so may requests with the token. Forwarded requests of visitors may
 * not. A request forwarded by a proxy on this machine that TRUSTED_PROXIES does not name is refused too,
 * because its sender is unknown.
 */
export function createMetricsAccess(
  trusted: TrustedProxies,
  token: string | null,
): (peer: string | null, headers: Headers) => boolean {
  const expected = token === null ? null : digest(token);
  // A count of proxies names no addresses.
  const proxies = trusted.kind === "ranges" ? trusted.ranges : [];
  const isProxy = (address: Address) => proxies.some((cidr) => cidrContains(cidr, address));
  const isOwn = (address: Address) =>
    isProxy(address) || LOOPBACK_RANGES.some((cidr) => cidrContains(cidr, address));

  function isFromOwn(peer: string | null, headers: Headers): boolean {
    const address = peer === null ? null : parseAddress(peer);
    if (address === null) return false;
    if (!PROXY_HEADERS.some((name) => headers.has(name))) return isOwn(address);
    const chain = forwardedChain(headers);
    return isProxy(address) && chain !== null && chain.length > 0 && chain.every(isOwn);
  }

  return (peer, headers) => {
    const sent = BEARER.exec(headers.get("authorization") ?? "")?.[1];
    if (expected !== null && sent !== undefined && timingSafeEqual(digest(sent), expected)) {
      return true;
    }
    return isFromOwn(peer, headers);
  };
}
