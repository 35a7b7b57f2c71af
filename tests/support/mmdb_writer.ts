import { type Cidr, parseCidr } from "../../src/http/ip_address.ts";

/** A number stands for an unsigned one of 32 bits. */
type Value = string | number | readonly Value[] | { readonly [name: string]: Value };

const TYPE_TEXT = 2;
const TYPE_UINT32 = 6;
const TYPE_MAP = 7;
const TYPE_ARRAY = 11;
const METADATA_MARKER = [0xab, 0xcd, 0xef, ...new TextEncoder().encode("MaxMind.com")];

/**
 * A database in MaxMind's format 2.0 with records of 24 bits: `networks` maps ranges, which must not
 * overlap, to records. With `ipVersion` 6, IPv4 lies under `::/96`.
 */
export function writeMmdb(networks: Record<string, Value>, ipVersion: 4 | 6 = 6): Uint8Array {
  const nodes: (number | { data: number } | null)[][] = [[null, null]];
  const data: number[] = [];
  for (const [network, record] of Object.entries(networks)) {
    const cidr = parseCidr(network);
    if (cidr === null) throw new Error(`not a network: ${network}`);
    const bits = pathOf(cidr, ipVersion);
    let node = 0;
    for (const bit of bits.slice(0, -1)) {
      const next = nodes[node]![bit];
      if (typeof next === "number") node = next;
      else node = nodes[node]![bit] = nodes.push([null, null]) - 1;
    }
    nodes[node]![bits.at(-1)!] = { data: data.length };
    data.push(...encode(record));
  }
  const tree = nodes.flat().flatMap((child) => {
    const value = child === null
      ? nodes.length
      : typeof child === "number"
      ? child
      : nodes.length + 16 + child.data;
    return [value >> 16, (value >> 8) & 0xff, value & 0xff];
  });
  const metadata = encode({
    node_count: nodes.length,
    record_size: 24,
    ip_version: ipVersion,
    database_type: "Test-City",
    languages: ["en"],
    binary_format_major_version: 2,
    binary_format_minor_version: 0,
    build_epoch: 1_767_225_600,
    description: { en: "test" },
  });
  return new Uint8Array([
    ...tree,
    ...new Array(16).fill(0),
    ...data,
    ...METADATA_MARKER,
    ...metadata,
  ]);
}

function pathOf(cidr: Cidr, ipVersion: 4 | 6): number[] {
  const bits = Array.from(cidr.bytes, (byte) => byte.toString(2).padStart(8, "0")).join("");
  const path = [...bits.slice(0, cidr.prefixBits)].map(Number);
  return ipVersion === 6 && cidr.family === 4 ? [...new Array(96).fill(0), ...path] : path;
}

function encode(value: Value): number[] {
  if (typeof value === "string") {
    const bytes = new TextEncoder().encode(value);
    return [...control(TYPE_TEXT, bytes.length), ...bytes];
  }
  if (typeof value === "number") {
    return [
      ...control(TYPE_UINT32, 4),
      value >>> 24,
      (value >> 16) & 255,
      (value >> 8) & 255,
      value & 255,
    ];
  }
  if (Array.isArray(value)) return [...control(TYPE_ARRAY, value.length), ...value.flatMap(encode)];
  const entries = Object.entries(value);
  return [
    ...control(TYPE_MAP, entries.length),
    ...entries.flatMap(([k, v]) => [...encode(k), ...encode(v)]),
  ];
}

/** Types past 7 stand in a second byte; sizes past 28 in a further one. */
function control(type: number, size: number): number[] {
  const short = size < 29 ? size : 29;
  const head = type > 7 ? [short, type - 7] : [(type << 5) | short];
  return size < 29 ? head : [...head, size - 29];
}
