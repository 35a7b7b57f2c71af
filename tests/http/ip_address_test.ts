import { deepStrictEqual, notStrictEqual, ok, strictEqual } from "node:assert/strict";
import fc from "fast-check";
import {
  type Address,
  addressText,
  cidrContains,
  isPublicAddress,
  parseAddress,
  parseCidr,
  truncateAddress,
} from "../../src/http/ip_address.ts";

function textOf(text: string): string | null {
  const address = parseAddress(text);
  return address === null ? null : addressText(address);
}

function read(text: string): Address {
  const address = parseAddress(text);
  ok(address, text);
  return address;
}

Deno.test("parseAddress: reads what proxies write, and addressText writes it canonically", () => {
  const cases: [string, string][] = [
    ["1.2.3.4", "1.2.3.4"],
    [" 1.2.3.4 ", "1.2.3.4"],
    ["1.2.3.4:5678", "1.2.3.4"],
    ["::ffff:1.2.3.4", "1.2.3.4"],
    ["::FFFF:102:304", "1.2.3.4"],
    ["[::ffff:1.2.3.4]:80", "1.2.3.4"],
    ["[::1]:80", "::1"],
    ["[2001:DB8::1]", "2001:db8::1"],
    ["fe80::1%eth0", "fe80::1"],
    ["[fe80::1%25eth0]:443", "fe80::1"],
    ["::", "::"],
    ["1::", "1::"],
    ["0:0:0:0:0:0:0:1", "::1"],
    ["2001:0db8:0000:0000:0001:0000:0000:0001", "2001:db8::1:0:0:1"],
    ["2001:db8:0:1:1:1:1:1", "2001:db8:0:1:1:1:1:1"],
    ["2001:db8::1:1:1:1:1", "2001:db8:0:1:1:1:1:1"],
    ["2001:0:0:1:0:0:0:1", "2001:0:0:1::1"],
    ["64:ff9b::1.2.3.4", "64:ff9b::102:304"],
  ];
  for (const [text, canonical] of cases) strictEqual(textOf(text), canonical, text);
});

Deno.test("parseAddress: refuses everything else", () => {
  const wrong = [
    ...["", " ", "1.2.3", "1.2.3.4.5", "1.2.3.256", "01.2.3.4", "1.2.3.04", "1.2.3.-4", "1.2.3.4:"],
    ...["1.2.3.4:x", "1.2.3.4:123456", "1.2.3.4%eth0", "1.2.3.4/8", "0x7f.1.1.1", "2130706433"],
    ...[":", ":::", "1::2::3", "1:2:3:4:5:6:7", "1:2:3:4:5:6:7:8:9", "1:2:3:4:5:6:7::8", "::12345"],
    ...["::g", "1.2.3.4::", "::1.2.3.4:5", "::1%", "[::1", "::1]", "[1.2.3.4]", "[::1]x", "[]"],
    ...["localhost", "unknown", "１.2.3.4", "1.2.3.4, 5.6.7.8", `::1%${"x".repeat(200)}`],
  ];
  for (const text of wrong) strictEqual(parseAddress(text), null, text);
});

Deno.test("addressText: agrees with URL on any IPv6 address, and reads back as the same", () => {
  const group = fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 0xffff }));
  fc.assert(fc.property(fc.array(group, { minLength: 8, maxLength: 8 }), (groups) => {
    const address = read(groups.map((value) => value.toString(16)).join(":"));
    const text = addressText(address);
    deepStrictEqual(read(text), address);
    if (address.family === 6) strictEqual(`[${text}]`, new URL(`http://[${text}]/`).hostname);
  }));
});

Deno.test("cidrContains: compares exactly the bits of the prefix", () => {
  const bytes = fc.uint8Array({ minLength: 4, maxLength: 4 });
  fc.assert(fc.property(bytes, bytes, fc.integer({ min: 0, max: 32 }), (a, b, prefixBits) => {
    const cidr = parseCidr(`${a.join(".")}/${prefixBits}`);
    ok(cidr);
    const bits = (value: Uint8Array) =>
      Array.from(value, (byte) => byte.toString(2).padStart(8, "0")).join("").slice(0, prefixBits);
    strictEqual(cidrContains(cidr, { family: 4, bytes: b }), bits(a) === bits(b));
    ok(cidrContains(cidr, { family: 4, bytes: a }));
  }));
});

Deno.test("parseCidr: reads ranges, single addresses and IPv4 inside IPv6; refuses the rest", () => {
  const contains = (cidr: string, ip: string) => {
    const parsed = parseCidr(cidr);
    ok(parsed, cidr);
    return cidrContains(parsed, read(ip));
  };
  ok(contains("10.1.2.3/8", "10.255.0.0") && !contains("10.1.2.3/8", "11.0.0.0"));
  ok(contains("2001:db8::/33", "2001:db8:7fff::") && !contains("2001:db8::/33", "2001:db8:8000::"));
  ok(contains("1.2.3.4", "1.2.3.4") && !contains("1.2.3.4", "1.2.3.5"));
  ok(contains("::ffff:10.0.0.0/104", "10.9.9.9") && !contains("::ffff:10.0.0.0/104", "11.0.0.0"));
  ok(contains("0.0.0.0/0", "8.8.8.8") && !contains("0.0.0.0/0", "::1") && contains("::/0", "::1"));
  const wrong = [
    "",
    "/8",
    "10.0.0.0/33",
    "::/129",
    "10.0.0.0/",
    "10.0.0.0/-1",
    "10.0.0.0/8/8",
    "10/8",
  ];
  for (const text of [...wrong, "::ffff:10.0.0.0/95", "10.0.0.0/1e1", "10.0.0.0/ 8"]) {
    strictEqual(parseCidr(text), null, text);
  }
});

Deno.test("isPublicAddress: tells the public Internet from everything else", () => {
  const priv = [
    ...["0.0.0.0", "10.0.0.1", "100.64.0.1", "100.127.255.255", "127.1.2.3", "169.254.169.254"],
    ...["172.16.0.1", "172.31.255.255", "192.0.0.1", "192.168.0.1", "198.19.0.1", "224.0.0.1"],
    ...["240.0.0.1", "255.255.255.255", "::", "::1", "::ffff:127.0.0.1", "::7f00:1", "fe80::1"],
    ...["fc00::1", "fdff::1", "fec0::1", "ff02::1", "64:ff9b::7f00:1", "2002:7f00:1::", "2001::1"],
    ...["100::1", "4000::1"],
  ];
  for (const ip of priv) strictEqual(isPublicAddress(read(ip)), false, ip);
  const publicOnes = [
    "8.8.8.8",
    "100.63.0.1",
    "100.128.0.1",
    "172.15.0.1",
    "172.32.0.1",
    "223.255.255.1",
  ];
  for (
    const ip of [...publicOnes, "203.0.113.9", "::ffff:8.8.8.8", "2001:4860:4860::8888", "2a00::1"]
  ) {
    strictEqual(isPublicAddress(read(ip)), true, ip);
  }
});

Deno.test("truncateAddress: keeps /24 or /48, and leaves its argument alone", () => {
  const address = read("8.8.8.8");
  strictEqual(addressText(truncateAddress(address)), "8.8.8.0");
  strictEqual(addressText(address), "8.8.8.8");
  strictEqual(addressText(truncateAddress(read("2001:db8:1:2:3:4:5:6"))), "2001:db8:1::");
  notStrictEqual(truncateAddress(address).bytes, address.bytes);
});
