import { createHash, timingSafeEqual } from "node:crypto";
import { forwardedChain, type TrustedProxies } from "./client_address.ts";
import { type Address, cidrContains, LOOPBACK_RANGES, parseAddress } from "./ip_address.ts";

/** What proxies add to the requests that they pass on. */
const PROXY_HEADERS = [
  "x-forwarded-for",
  "forwarded",
  "x-forwarded-host",
  "x-forwarded-proto",
  "x-real-ip",
  "via",
];
const BEARER = /^Bearer +([^ ]+) *$/i;

/** Equal lengths for the comparison, which takes as long wherever the texts differ. */
const digest = (text: string) => createHash("sha256").update(text).digest();

/**
 * Who may read the metrics: this machine and the trusted proxies themselves, and whoever sends the
 * token. A visitor whose request a proxy passes on is neither, also behind a proxy of this machine
 * that TRUSTED_PROXIES does not name: then nobody says whose request it is, and it is refused.
 */
export function createMetricsAccess(
  trusted: TrustedProxies,
  token: string | null,
): (peer: string | null, headers: Headers) => boolean {
  const expected = token === null ? null : digest(token);
  // A count of hops names no addresses.
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
