import { FORWARDED_ENTRIES_MAX, FORWARDED_LENGTH_MAX } from "../limits.ts";
import {
  type Address,
  addressText,
  type Cidr,
  cidrContains,
  LINK_LOCAL_RANGES,
  LOOPBACK_RANGES,
  parseAddress,
  parseCidr,
  PRIVATE_RANGES,
  truncateAddress,
} from "./ip_address.ts";

/** Which peers are trusted to tell the client's address. */
export type TrustedProxies =
  | { readonly kind: "none" }
  | { readonly kind: "ranges"; readonly ranges: readonly Cidr[] }
  | { readonly kind: "hops"; readonly count: number };

const NAMED_RANGES: ReadonlyMap<string, readonly Cidr[]> = new Map([
  ["loopback", LOOPBACK_RANGES],
  ["linklocal", LINK_LOCAL_RANGES],
  ["private", PRIVATE_RANGES],
]);

/**
 * Parses the setting: addresses, CIDR ranges and the names `loopback`, `linklocal` and `private`,
 * separated by commas or blanks; or one whole number, the count of proxies in front. Empty or 0: no peer is
 * trusted. Returns a mistake as a sentence, without the name of the setting.
 */
export function parseTrustedProxies(text: string): TrustedProxies | string {
  const entries = text.split(/[\s,]+/).filter((entry) => entry !== "");
  const [first] = entries;
  if (first === undefined) return { kind: "none" };
  if (entries.length === 1 && /^\d+$/.test(first)) {
    const count = Number(first);
    if (count > FORWARDED_ENTRIES_MAX) {
      return `must be at most ${FORWARDED_ENTRIES_MAX} as a count of proxies, not ${first}`;
    }
    return count === 0 ? { kind: "none" } : { kind: "hops", count };
  }
  const ranges: Cidr[] = [];
  for (const entry of entries) {
    const cidr = parseCidr(entry);
    const named = cidr === null ? NAMED_RANGES.get(entry.toLowerCase()) : [cidr];
    if (named === undefined) {
      return `must list addresses, CIDR ranges, loopback, linklocal or private, ` +
        `or be one count of proxies; "${entry}" is none of these`;
    }
    ranges.push(...named);
  }
  return { kind: "ranges", ranges };
}

/** Returns the socket's peer as given and as canonical text, and whether it is trusted. */
function knownPeer(peer: string | null, isTrusted: (address: Address) => boolean) {
  const address = peer === null ? null : parseAddress(peer);
  const text = address === null ? null : addressText(address);
  return { peer, text, isTrusted: address !== null && isTrusted(address) };
}

/**
 * Makes a function that returns the address a request came from, as canonical text; null if not even the
 * socket's `peer` is known. It reads headers only if the peer is trusted, and from the right: every proxy
 * appends an entry, so entries that the client wrote itself are on the left.
 *
 * It reads `X-Forwarded-For`, and `Forwarded` (RFC 7239) only if the former is absent. With ranges, the
 * address is the first from the right that is not trusted, or the left-most if all are. With a count n, it
 * is the n-th from the right, or the left-most. Entries to the left of one that is not an address are ignored.
 */
export function createClientAddress(
  trusted: TrustedProxies,
): (peer: string | null, headers: Headers) => string | null {
  const ranges = trusted.kind === "ranges" ? trusted.ranges : [];
  const isTrusted = (address: Address) => ranges.some((cidr) => cidrContains(cidr, address));
  // Behind a proxy all requests have one peer.
  let last = knownPeer(null, isTrusted);
  return (peer, headers) => {
    if (peer !== last.peer) last = knownPeer(peer, isTrusted);
    if (trusted.kind === "none") return last.text;
    if (trusted.kind === "hops") {
      return lastOf(forwardedAddresses(headers), trusted.count, () => true) ?? last.text;
    }
    if (!last.isTrusted) return last.text;
    return lastOf(forwardedAddresses(headers), FORWARDED_ENTRIES_MAX, isTrusted) ?? last.text;
  };
}

/** Whether the socket's peer is trusted to tell the client's address. */
export function isTrustedPeer(trusted: TrustedProxies, peer: string | null): boolean {
  if (trusted.kind !== "ranges") return trusted.kind === "hops";
  const address = peer === null ? null : parseAddress(peer);
  return address !== null && trusted.ranges.some((cidr) => cidrContains(cidr, address));
}

/**
 * Returns the addresses that the headers of a request name, right-most first; null if an entry is not an
 * address, or if there are more than FORWARDED_ENTRIES_MAX.
 */
export function forwardedChain(headers: Headers): Address[] | null {
  const list = headers.get("x-forwarded-for") ?? headers.get("forwarded") ?? "";
  const isWhole = list.length <= FORWARDED_LENGTH_MAX;
  const entries = list.split(",").filter((entry) => entry.trim() !== "").length;
  const addresses = [...forwardedAddresses(headers)];
  return isWhole && addresses.length === entries ? addresses : null;
}

/**
 * Returns the first address that `passes` refuses, else the last of the first `countMax`; null: there is
 * none.
 */
function lastOf(
  addresses: Iterable<Address>,
  countMax: number,
  passes: (address: Address) => boolean,
): string | null {
  let last: Address | null = null;
  let count = 0;
  for (const address of addresses) {
    last = address;
    count++;
    if (count === countMax || !passes(address)) break;
  }
  return last === null ? null : addressText(last);
}

/** Yields the addresses that proxies wrote, right-most first, up to the first entry that is not an address. */
function* forwardedAddresses(headers: Headers): Generator<Address> {
  const forwardedFor = headers.get("x-forwarded-for");
  const read = forwardedFor === null ? forwardedNode : parseAddress;
  const list = forwardedFor ?? headers.get("forwarded") ?? "";
  for (const entry of entriesFromRight(list)) {
    const address = read(entry);
    if (address === null) return;
    yield address;
  }
}

/**
 * Yields the entries of a comma-separated list from the right, without empty ones (RFC 9110, section
 * 5.6.1.2). It also cuts at commas in quoted strings: `for` never contains a comma, and neither half of such
 * an entry is well formed.
 */
function* entriesFromRight(list: string): Generator<string> {
  const entries = list.slice(-FORWARDED_LENGTH_MAX).split(",");
  // The first entry of a shortened list may be the end of a longer address.
  if (list.length > FORWARDED_LENGTH_MAX) entries.shift();
  let count = 0;
  for (let i = entries.length - 1; i >= 0 && count < FORWARDED_ENTRIES_MAX; i--) {
    const entry = (entries[i] ?? "").trim();
    if (entry === "") continue;
    count++;
    yield entry;
  }
}

/**
 * One `name=value` of RFC 7239; the value is a token or a quoted string without escapes, which no node
 * needs.
 */
const FORWARDED_PAIR = /^\s*([\w!#$%&'*+.^`|~-]+)=(?:([\w!#$%&'*+.^`|~:[\]-]+)|"([^"\\]*)")\s*$/;

/**
 * Returns the address in `for=…`; null for a hidden one (`_name`, `unknown`) or an entry that is not well
 * formed.
 */
function forwardedNode(entry: string): Address | null {
  let node: string | null = null;
  for (const part of entry.split(";")) {
    if (part.trim() === "") continue;
    const pair = FORWARDED_PAIR.exec(part);
    if (pair === null) return null;
    if (pair[1]?.toLowerCase() !== "for") continue;
    if (node !== null) return null;
    node = pair[2] ?? pair[3] ?? "";
  }
  return node === null ? null : parseAddress(node);
}

/**
 * Returns the part of an address that may be stored, as canonical text: the whole address, its network (/24 or
 * /48), or null. Also null if `ip` is not an address.
 */
export function ipForStorage(
  ip: string | null,
  mode: "full" | "truncated" | "none",
): string | null {
  if (ip === null || mode === "none") return null;
  const address = parseAddress(ip);
  if (address === null) return null;
  return addressText(mode === "full" ? address : truncateAddress(address));
}
