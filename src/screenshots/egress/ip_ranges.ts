/** Which addresses the browser of a capture may be led to. */

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

/** Neither a port, nor brackets, nor a zone. */
const BARE_ADDRESS = /^[\da-f.:]+$/i;

/** Documentation (RFC 5737, 3849, 9637): nothing answers there, so whoever names one is up to something. */
const DOCUMENTATION = ranges(
  "192.0.2.0/24",
  "198.51.100.0/24",
  "203.0.113.0/24",
  "2001:db8::/32",
  "3fff::/20",
);
/** Clouds tell machines their secrets here; where the range around is denied anyway, it is not twice. */
const METADATA = ranges("168.63.129.16", "fd00:ec2::254", "fd20:ce::254");
const OWN_NETWORK = [...LOOPBACK_RANGES, ...PRIVATE_RANGES];

/**
 * Reads an address and nothing around it. IPv4 inside IPv6 (`::ffff:1.2.3.4`) is null: no resolver
 * needs that form, and what it reaches depends on the system.
 */
function parseBare(text: string): Address | null {
  const address = BARE_ADDRESS.test(text) ? parseAddress(text) : null;
  return address?.family === 4 && text.includes(":") ? null : address;
}

function isWithin(cidrs: readonly Cidr[], address: Address): boolean {
  return cidrs.some((cidr) => cidrContains(cidr, address));
}

/**
 * Whether the whole Internet can reach this address, by the IANA special-purpose registries. What
 * cannot be read as one address, and every form that carries an IPv4 address in IPv6, is not.
 */
export function isPublicAddress(address: string): boolean {
  const parsed = parseBare(address);
  return parsed !== null && isOfPublicSpace(parsed) &&
    !isWithin(DOCUMENTATION, parsed) && !isWithin(METADATA, parsed);
}

/** Whether an operator may name this address as a site of the own machine or network. */
export function isOwnNetworkAddress(address: string): boolean {
  const parsed = parseBare(address);
  return parsed !== null && isWithin(OWN_NETWORK, parsed) && !isWithin(METADATA, parsed);
}
