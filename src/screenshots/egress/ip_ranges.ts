/** The addresses to which the browser of a capture may connect. */

import {
  type Address,
  type Cidr,
  cidrContains,
  isPublicAddress as isOfPublicSpace,
  LOOPBACK_RANGES,
  parseAddress,
  PRIVATE_RANGES,
  ranges,
} from "../../http/ip_address.ts";

/** Matches an address without port, brackets and zone. */
const BARE_ADDRESS = /^[\da-f.:]+$/i;

/** Ranges for documentation (RFC 5737, 3849, 9637): nothing answers there, so a page that uses one is suspicious. */
const DOCUMENTATION = ranges(
  "192.0.2.0/24",
  "198.51.100.0/24",
  "203.0.113.0/24",
  "2001:db8::/32",
  "3fff::/20",
);
/** Metadata services of clouds, which give machines their secrets; only those outside of ranges denied above. */
const METADATA = ranges("168.63.129.16", "fd00:ec2::254", "fd20:ce::254");
const OWN_NETWORK = [...LOOPBACK_RANGES, ...PRIVATE_RANGES];

/**
 * Parses an address without anything around it. Returns null for IPv4 inside IPv6 (`::ffff:1.2.3.4`), which no
 * resolver needs and whose meaning depends on the system.
 */
function parseBare(text: string): Address | null {
  const address = BARE_ADDRESS.test(text) ? parseAddress(text) : null;
  return address?.family === 4 && text.includes(":") ? null : address;
}

function isWithin(cidrs: readonly Cidr[], address: Address): boolean {
  return cidrs.some((cidr) => cidrContains(cidr, address));
}

/**
 * Whether an address is on the public Internet, by the IANA special-purpose registries. False for texts that are
 * not an address, and for all forms of IPv6 that contain an IPv4 address.
 */
export function isPublicAddress(address: string): boolean {
  const parsed = parseBare(address);
  return parsed !== null && isOfPublicSpace(parsed) &&
    !isWithin(DOCUMENTATION, parsed) && !isWithin(METADATA, parsed);
}

/** Whether an address is of the server's own machine or network, where an operator may have a site. */
export function isOwnNetworkAddress(address: string): boolean {
  const parsed = parseBare(address);
  return parsed !== null && isWithin(OWN_NETWORK, parsed) && !isWithin(METADATA, parsed);
}
