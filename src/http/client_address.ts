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

/** Whose word about the client's address is taken. */
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
 * Reads the setting: addresses, CIDR ranges and the names `loopback`, `linklocal` and `private`,
 * separated by commas or blanks; or one whole number, the count of proxies in front. Empty or 0:
 * none. A mistake is returned as a sentence, without the name of the setting.
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

/** The socket's other end as it is told, as canonical text, and whether its word is taken. */
function knownPeer(peer: string | null, isTrusted: (address: Address) => boolean) {
  const address = peer === null ? null : parseAddress(peer);
  const text = address === null ? null : addressText(address);
  return { peer, text, isTrusted: address !== null && isTrusted(address) };
}

/**
 * A function that says which address a request came from, as canonical text; null if not even the
 * socket's `peer` is known. Headers are read only where the peer is trusted, and from the right:
 * every proxy appends, so what a client wrote itself stands on the left.
 *
 * `X-Forwarded-For` counts, and only in its absence `Forwarded` (RFC 7239). By ranges, it is the
 * first address that is not trusted (all are: the left-most); by a count n, the n-th from the right
 * (or the left-most). Whatever is left of an entry that is no address does not count.
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

/** Whether what the socket's other end says of the client is taken. */
export function isTrustedPeer(trusted: TrustedProxies, peer: string | null): boolean {
  if (trusted.kind !== "ranges") return trusted.kind === "hops";
  const address = peer === null ? null : parseAddress(peer);
  return address !== null && trusted.ranges.some((cidr) => cidrContains(cidr, address));
}

/**
 * The addresses that a request says it came by, right-most first; null where an entry is none, or
 * where there are more than are looked at.
 */
export function forwardedChain(headers: Headers): Address[] | null {
  const list = headers.get("x-forwarded-for") ?? headers.get("forwarded") ?? "";
  const isWhole = list.length <= FORWARDED_LENGTH_MAX;
  const entries = list.split(",").filter((entry) => entry.trim() !== "").length;
  const addresses = [...forwardedAddresses(headers)];
  return isWhole && addresses.length === entries ? addresses : null;
}

/** Walks at most `countMax` addresses, and on only past those that `passes` lets through. */
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

/** The addresses that the proxies wrote, right-most first, up to the first entry that is none. */
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
 * Entries of a comma-separated list. Empty ones are passed over (RFC 9110, section 5.6.1.2). Commas
 * in a quoted string cut as well: `for` never holds one, and no half of such an entry is well formed.
 */
function* entriesFromRight(list: string): Generator<string> {
  const entries = list.slice(-FORWARDED_LENGTH_MAX).split(",");
  // The first entry of a list that was cut may be the tail of another address.
  if (list.length > FORWARDED_LENGTH_MAX) entries.shift();
  let count = 0;
  for (let i = entries.length - 1; i >= 0 && count < FORWARDED_ENTRIES_MAX; i--) {
    const entry = (entries[i] ?? "").trim();
    if (entry === "") continue;
    count++;
    yield entry;
  }
}

/** One `name=value` of RFC 7239: a token, or a quoted string without escapes, which no node needs. */
const FORWARDED_PAIR = /^\s*([\w!#$%&'*+.^`|~-]+)=(?:([\w!#$%&'*+.^`|~:[\]-]+)|"([^"\\]*)")\s*$/;

/** The address in `for=…`; null for a hidden one (`_name`, `unknown`) or an entry that is not well formed. */
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
 * What may be stored of an address: all of it, its network (/24 or /48), or nothing. Canonical
 * text; null for what is no address.
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
