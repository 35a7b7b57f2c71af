import { isPublicAddress, parseAddress } from "../http/ip_address.ts";

const IPV4 = /^\d+\.\d+\.\d+\.\d+$/;
/** Names that are always of the own machine or network (RFC 6761, 6762, 8375, and ICANN's `internal`). */
const OWN_NAME = /(?:^|\.)(?:localhost|local|internal|home\.arpa)$/;

/**
 * Whether a site's URL is public by its text: not a private, loopback or otherwise reserved address in any
 * notation, nor a name of the own network. Where a public name leads is checked by each capture, when it
 * resolves the name.
 */
export function isPublicSite(siteUrl: string): boolean {
  const url = URL.parse(siteUrl);
  if (url === null) return false;
  // URL has already converted `0x7f.1` and `2130706433` to 127.0.0.1.
  const host = url.hostname.toLowerCase().replace(/\.$/, "");
  if (!host.startsWith("[") && !IPV4.test(host)) return host.includes(".") && !OWN_NAME.test(host);
  const address = parseAddress(host);
  return address !== null && isPublicAddress(address);
}
