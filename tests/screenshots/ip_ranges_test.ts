import assert from "node:assert/strict";
import fc from "fast-check";
import { isOwnNetworkAddress, isPublicAddress } from "../../src/screenshots/egress/ip_ranges.ts";

/** What is denied: its first and last address, and the public ones before and after it, if there are. */
const RANGES: readonly [why: string, first: string, last: string, around: readonly string[]][] = [
  ["this network", "0.0.0.0", "0.255.255.255", ["1.0.0.0"]],
  ["private", "10.0.0.0", "10.255.255.255", ["9.255.255.255", "11.0.0.0"]],
  ["carrier-grade NAT", "100.64.0.0", "100.127.255.255", ["100.63.255.255", "100.128.0.0"]],
  ["loopback", "127.0.0.0", "127.255.255.255", ["126.255.255.255", "128.0.0.0"]],
  ["Azure metadata", "168.63.129.16", "168.63.129.16", ["168.63.129.15", "168.63.129.17"]],
  ["link-local", "169.254.0.0", "169.254.255.255", ["169.253.255.255", "169.255.0.0"]],
  ["private", "172.16.0.0", "172.31.255.255", ["172.15.255.255", "172.32.0.0"]],
  ["protocol assignments", "192.0.0.0", "192.0.0.255", ["191.255.255.255", "192.0.1.0"]],
  ["documentation", "192.0.2.0", "192.0.2.255", ["192.0.1.255", "192.0.3.0"]],
  ["6to4 relays", "192.88.99.0", "192.88.99.255", ["192.88.98.255", "192.88.100.0"]],
  ["private", "192.168.0.0", "192.168.255.255", ["192.167.255.255", "192.169.0.0"]],
  ["benchmarking", "198.18.0.0", "198.19.255.255", ["198.17.255.255", "198.20.0.0"]],
  ["documentation", "198.51.100.0", "198.51.100.255", ["198.51.99.255", "198.51.101.0"]],
  ["documentation", "203.0.113.0", "203.0.113.255", ["203.0.112.255", "203.0.114.0"]],
  ["multicast", "224.0.0.0", "239.255.255.255", ["223.255.255.255"]],
  ["reserved", "240.0.0.0", "255.255.255.254", []],
  ["broadcast", "255.255.255.255", "255.255.255.255", []],
  ["below what is given out", "::", "1fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", ["2000::"]],
  ["protocols, Teredo, ORCHID", "2001::", "2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff", [
    "2000:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
    "2001:200::",
  ]],
  ["documentation", "2001:db8::", "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff", [
    "2001:db7:ffff:ffff:ffff:ffff:ffff:ffff",
    "2001:db9::",
  ]],
  ["6to4", "2002::", "2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff", [
    "2001:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
    "2003::",
  ]],
  ["documentation", "3fff::", "3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff", [
    "3ffe:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
    "3fff:1000::",
  ]],
  ["above what is given out", "4000::", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", [
    "3fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
  ]],
];

/** Single addresses within them, as they are met. */
const DENIED = [
  ...["127.0.0.1", "10.1.2.3", "172.17.0.1", "192.168.1.1", "169.254.169.254", "100.100.100.200"],
  ...["192.0.0.192", "0.0.0.0", "224.0.0.251", "239.255.255.250", "192.0.0.170", "198.18.0.1"],
  ...["::", "::1", "::2", "0:0:0:0:0:0:0:1", "fc00::", "fd00::1", "fd00:ec2::254", "fd20:ce::254"],
  ...["fdff:ffff::", "fe80::1", "febf::1", "fec0::1", "ff02::1", "ff0e::1", "100::1", "5f00::1"],
  // IPv4 in IPv6: mapped, compatible, translated, NAT64, 6to4, Teredo. Public ones too.
  ...["::ffff:127.0.0.1", "::ffff:7f00:1", "::FFFF:10.0.0.1", "::ffff:8.8.8.8", "::ffff:808:808"],
  ...["0:0:0:0:0:ffff:169.254.169.254", "::127.0.0.1", "::8.8.8.8", "::ffff:0:127.0.0.1"],
  ...["64:ff9b::127.0.0.1", "64:ff9b::808:808", "64:ff9b::", "64:ff9b::ffff:ffff"],
  ...["64:ff9b:1::", "64:ff9b:1::a00:1", "64:ff9b:1:ffff:ffff:ffff:ffff:ffff"],
  ...["2002:7f00:1::", "2002:808:808::1", "2001::1", "2001:0:4136:e378:8000:63bf:3fff:fdd2"],
];

const PUBLIC = [
  ...["1.1.1.1", "8.8.8.8", "93.184.216.34", "192.31.196.1", "192.52.193.1", "192.175.48.1"],
  ...["2606:4700:4700::1111", "2001:4860:4860::8888", "2A00:1450::", "2620:4f:8000::1"],
];

/** Not one address, whatever some system may make of it. */
const UNREADABLE = [
  ...["", " ", "localhost", "example.com", "2130706433", "0x7f.1", "0177.0.0.1", "08.8.8.8", "8.8"],
  ...["8.8.8.8:80", "[2606:4700::1]", "2606:4700::1%eth0", "8.8.8.8 ", " 8.8.8.8", "8.8.8.8/32"],
  ...[
    "8.8.8.256",
    "8.8.8.8.8",
    "1::2::3",
    "2606:4700",
    ":::",
    "８.8.8.8",
    "8.8.8.8\n",
    "8.8.8.8\0",
  ],
];

Deno.test("isPublicAddress: denies each special range from its first to its last address, and nothing beside it", () => {
  for (const [why, first, last, around] of RANGES) {
    assert.equal(isPublicAddress(first), false, `${first}, the first of ${why}`);
    assert.equal(isPublicAddress(last), false, `${last}, the last of ${why}`);
    for (const address of around) assert.equal(isPublicAddress(address), true, address);
  }
});

Deno.test("isPublicAddress: denies important addresses, and IPv4 in any form of IPv6", () => {
  for (const address of DENIED) assert.equal(isPublicAddress(address), false, address);
  for (const address of PUBLIC) assert.equal(isPublicAddress(address), true, address);
});

Deno.test("isPublicAddress: denies what is not one bare address", () => {
  for (const text of UNREADABLE) assert.equal(isPublicAddress(text), false, JSON.stringify(text));
  fc.assert(fc.property(fc.string(), (text) => !isPublicAddress(`${text} 8.8.8.8`)));
});

Deno.test("isPublicAddress: no IPv4 address becomes public by being written as IPv6", () => {
  const octet = fc.integer({ min: 0, max: 255 });
  fc.assert(fc.property(octet, octet, octet, octet, (a, b, c, d) => {
    const quad = [a, b, c, d].join(".");
    const hex = ((a << 8) | b).toString(16) + ":" + ((c << 8) | d).toString(16);
    for (const prefix of ["::ffff:", "::", "64:ff9b::", "64:ff9b:1::", "::ffff:0:"]) {
      assert.equal(isPublicAddress(prefix + quad), false, prefix + quad);
    }
    assert.equal(isPublicAddress(`2002:${hex}::1`), false, quad);
  }));
});

Deno.test("isOwnNetworkAddress: loopback and private networks, never metadata services or multicast", () => {
  const own = ["127.0.0.1", "127.8.8.8", "10.0.0.5", "172.20.0.2", "192.168.1.1", "::1", "fd12::1"];
  for (const address of own) assert.equal(isOwnNetworkAddress(address), true, address);
  const others = [
    ...["0.0.0.0", "169.254.169.254", "100.100.100.200", "168.63.129.16", "fd00:ec2::254"],
    ...["fd20:ce::254", "fe80::1", "224.0.0.1", "255.255.255.255", "::ffff:127.0.0.1", "::"],
    ...["8.8.8.8", "localhost", "[::1]", "127.0.0.1:80", "127.1", "172.32.0.1", "192.0.2.1"],
  ];
  for (const address of others) assert.equal(isOwnNetworkAddress(address), false, address);
});
