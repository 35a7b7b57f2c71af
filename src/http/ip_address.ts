/** An IP address. */
export interface Address {
  readonly family: 4 | 6;
  /** 4 or 16 bytes in network order. */
  readonly bytes: Uint8Array;
}

export interface Cidr {
  readonly family: 4 | 6;
  readonly bytes: Uint8Array;
  readonly prefixBits: number;
}

/** Room for `[`, an address of 45 characters, `%`, a zone and `]:65535`. */
const TEXT_LENGTH_MAX = 100;
const DOTTED_QUAD = /^(0|[1-9]\d{0,2})\.(0|[1-9]\d{0,2})\.(0|[1-9]\d{0,2})\.(0|[1-9]\d{0,2})$/;
const GROUP = /^[0-9a-f]{1,4}$/i;
const BRACKETED = /^\[([^\]]*)\](?::\d{1,5})?$/;
const IPV4_WITH_PORT = /^([\d.]+):\d{1,5}$/;
const PREFIX_BITS = /^\d{1,3}$/;
const MAPPED_PREFIX_BITS = 96;

/**
 * Parses an address as proxies write it: IPv4 or IPv6, possibly in brackets, possibly with a zone or a port,
 * which are dropped. IPv4 inside IPv6 (`::ffff:1.2.3.4`) becomes IPv4. Returns null for anything else, also
 * for octets with leading zeros, which some programs read as octal.
 */
export function parseAddress(text: string): Address | null {
  const bytes = parseBytes(text);
  return bytes === null ? null : unmapped(bytes);
}

function parseBytes(text: string): Uint8Array | null {
  if (text.length > TEXT_LENGTH_MAX) return null;
  const trimmed = text.trim();
  if (!trimmed.includes(":")) return parseIpv4(trimmed);
  const bracketed = BRACKETED.exec(trimmed);
  if (bracketed !== null) return parseIpv6(bracketed[1] ?? "");
  const withPort = IPV4_WITH_PORT.exec(trimmed);
  return withPort === null ? parseIpv6(trimmed) : parseIpv4(withPort[1] ?? "");
}

function parseIpv4(text: string): Uint8Array | null {
  const [whole, ...octets] = DOTTED_QUAD.exec(text) ?? [];
  if (whole === undefined) return null;
  const bytes = new Uint8Array(4);
  for (let i = 0; i < bytes.length; i++) {
    const value = Number(octets[i]);
    if (value > 255) return null;
    bytes[i] = value;
  }
  return bytes;
}

function parseIpv6(text: string): Uint8Array | null {
  const zone = text.indexOf("%");
  if (zone >= 0 && zone === text.length - 1) return null;
  const halves = (zone < 0 ? text : text.slice(0, zone)).split("::");
  if (halves.length > 2) return null;
  const head = parseGroups(halves[0] ?? "", halves.length === 1);
  const tail = parseGroups(halves[1] ?? "", halves.length === 2);
  if (head === null || tail === null) return null;
  const length = head.length + tail.length;
  // "::" stands for at least one group of zeros.
  if (halves.length === 1 ? length !== 16 : length > 14) return null;
  const bytes = new Uint8Array(16);
  bytes.set(head, 0);
  bytes.set(tail, 16 - tail.length);
  return bytes;
}

/** Returns the bytes of `a:b:c`; the last group may be a dotted quad if the address `ends` there. */
function parseGroups(text: string, ends: boolean): number[] | null {
  if (text === "") return [];
  const groups = text.split(":");
  if (groups.length > 8) return null;
  const bytes: number[] = [];
  for (const [i, group] of groups.entries()) {
    if (GROUP.test(group)) {
      const value = parseInt(group, 16);
      bytes.push(value >> 8, value & 0xff);
      continue;
    }
    const quad = ends && i === groups.length - 1 ? parseIpv4(group) : null;
    if (quad === null) return null;
    bytes.push(...quad);
  }
  return bytes;
}

function isMapped(bytes: Uint8Array): boolean {
  if (bytes.length !== 16 || bytes[10] !== 0xff || bytes[11] !== 0xff) return false;
  for (let i = 0; i < 10; i++) if (bytes[i] !== 0) return false;
  return true;
}

function unmapped(bytes: Uint8Array): Address {
  if (bytes.length === 4) return { family: 4, bytes };
  return isMapped(bytes) ? { family: 4, bytes: bytes.slice(12) } : { family: 6, bytes };
}

/** Returns the canonical text: dotted decimal, or RFC 5952 (lower case, the longest run of zeros shortened). */
export function addressText(address: Address): string {
  const { family, bytes } = address;
  if (family === 4) return `${bytes[0]}.${bytes[1]}.${bytes[2]}.${bytes[3]}`;
  const groups: number[] = [];
  for (let i = 0; i < 16; i += 2) groups.push(((bytes[i] ?? 0) << 8) | (bytes[i + 1] ?? 0));
  const zeros = longestZeros(groups);
  const hex = groups.map((group) => group.toString(16));
  if (zeros.length < 2) return hex.join(":");
  return `${hex.slice(0, zeros.start).join(":")}::${
    hex.slice(zeros.start + zeros.length).join(":")
  }`;
}

/** Returns the first of the longest runs of zero groups. */
function longestZeros(groups: readonly number[]): { start: number; length: number } {
  let best = { start: 0, length: 0 };
  let start = 0;
  for (let i = 0; i < groups.length; i++) {
    if (groups[i] !== 0) start = i + 1;
    else if (i + 1 - start > best.length) best = { start, length: i + 1 - start };
  }
  return best;
}

/**
 * Parses `10.0.0.0/8`, `fd00::/8`, or one address, which is a range of its own. Clears the bits past the
 * prefix. A range of IPv4 inside IPv6 becomes one of IPv4. Returns null for anything else.
 */
export function parseCidr(text: string): Cidr | null {
  if (text.length > TEXT_LENGTH_MAX) return null;
  const slash = text.indexOf("/");
  const bytes = parseBytes(slash < 0 ? text : text.slice(0, slash));
  if (bytes === null) return null;
  const bitsText = slash < 0 ? String(bytes.length * 8) : text.slice(slash + 1);
  if (!PREFIX_BITS.test(bitsText)) return null;
  let prefixBits = Number(bitsText);
  if (prefixBits > bytes.length * 8) return null;
  const { family, bytes: base } = unmapped(bytes);
  if (base.length !== bytes.length) {
    if (prefixBits < MAPPED_PREFIX_BITS) return null;
    prefixBits -= MAPPED_PREFIX_BITS;
  }
  return { family, bytes: masked(base, prefixBits), prefixBits };
}

function masked(bytes: Uint8Array, prefixBits: number): Uint8Array {
  return bytes.map((byte, i) => byte & octetMask(prefixBits - 8 * i));
}

/** Returns the mask that keeps the first `bits` bits of an octet; a negative number counts as 0. */
function octetMask(bits: number): number {
  return (0xff << (8 - Math.min(Math.max(bits, 0), 8))) & 0xff;
}

export function cidrContains(cidr: Cidr, address: Address): boolean {
  if (cidr.family !== address.family) return false;
  for (let i = 0; 8 * i < cidr.prefixBits; i++) {
    const difference = (cidr.bytes[i] ?? 0) ^ (address.bytes[i] ?? 0);
    if ((difference & octetMask(cidr.prefixBits - 8 * i)) !== 0) return false;
  }
  return true;
}

/** Parses ranges that are written in the source. */
export function ranges(...texts: string[]): readonly Cidr[] {
  return texts.map((text) => {
    const cidr = parseCidr(text);
    if (cidr === null) throw new Error(`not a range of addresses: ${text}`);
    return cidr;
  });
}

export const LOOPBACK_RANGES = ranges("127.0.0.0/8", "::1");
export const LINK_LOCAL_RANGES = ranges("169.254.0.0/16", "fe80::/10");
/** Private networks (RFC 1918 and RFC 4193). */
export const PRIVATE_RANGES = ranges("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7");

/** All public IPv6 addresses that are allocated so far. */
const IPV6_PUBLIC = ranges("2000::/3");
/**
 * Ranges that the IANA special-purpose registries keep off the public Internet, and forms of IPv6 that carry
 * an IPv4 address (Teredo, 6to4). Documentation ranges count as public on purpose: nothing answers there, and
 * people who try the product out with such an address expect it to be looked up.
 */
const NOT_PUBLIC = [
  ...LOOPBACK_RANGES,
  ...LINK_LOCAL_RANGES,
  ...PRIVATE_RANGES,
  ...ranges(
    "0.0.0.0/8",
    "100.64.0.0/10",
    "192.0.0.0/24",
    "192.88.99.0/24",
    "198.18.0.0/15",
    "224.0.0.0/4",
    "240.0.0.0/4",
    "2001::/23",
    "2002::/16",
  ),
];

/** Whether an address can belong to somebody on the public Internet. */
export function isPublicAddress(address: Address): boolean {
  if (address.family === 6 && !IPV6_PUBLIC.some((cidr) => cidrContains(cidr, address))) {
    return false;
  }
  return !NOT_PUBLIC.some((cidr) => cidrContains(cidr, address));
}

/** Returns the address of the network that it is in: /24 of IPv4, /48 of IPv6 (`8.8.8.8` → `8.8.8.0`). */
export function truncateAddress(address: Address): Address {
  const bytes = masked(address.bytes, address.family === 4 ? 24 : 48);
  return { family: address.family, bytes };
}
