import { isPublicAddress, parseAddress } from "../http/ip_address.ts";

const IPV4 = /^\d+\.\d+\.\d+\.\d+$/;
/** Names of the own machine or network, whatever a resolver says (RFC 6761, 6762, 8375, and ICANN's `internal`). */
const OWN_NAME = /(?:^|\.)(?:localhost|local|internal|home\.arpa)$/;

/**
 * Whether a site's URL says itself that it is of the public Internet: neither a private, loopback or
 * otherwise reserved address, however it is written, nor a name of the own network. Where a public
 * name leads is another question, which a capture asks when it looks the name up.
 */
export function isPublicSite(siteUrl: string): boolean {
  const url = URL.parse(siteUrl);
  if (url === null) return false;
  // URL has made `0x7f.1` and `2130706433` into 127.0.0.1 by now.
  const host = url.hostname.toLowerCase().replace(/\.$/, "");
  if (!host.startsWith("[") && !IPV4.test(host)) return host.includes(".") && !OWN_NAME.test(host);
  const address = parseAddress(host);
  return address !== null && isPublicAddress(address);
}
