import { deepStrictEqual, ok, rejects, strictEqual } from "node:assert/strict";
import { type Geo, openGeo } from "../../src/ingest/geo.ts";
import { writeMmdb } from "../support/mmdb_writer.ts";

const NOWHERE = { country: null, region: null, city: null };
const BERLIN = { country: "DE", region: "Land Berlin", city: "Berlin" };

async function withFile(bytes: Uint8Array, work: (path: string) => Promise<void>): Promise<void> {
  const path = await Deno.makeTempFile({ suffix: ".mmdb" });
  try {
    await Deno.writeFile(path, bytes);
    await work(path);
  } finally {
    await Deno.remove(path);
  }
}

async function withDatabase(bytes: Uint8Array, work: (geo: Geo) => void): Promise<void> {
  await withFile(bytes, async (path) => work(await openGeo(path)));
}

Deno.test("openGeo: the built-in database knows countries", async () => {
  const geo = await openGeo(null);
  const usa = { country: "US", region: null, city: null };
  deepStrictEqual(geo.locate("8.8.8.8"), usa);
  deepStrictEqual(geo.locate("8.8.8.8"), usa);
  deepStrictEqual(geo.locate("::ffff:8.8.8.8"), usa);
  strictEqual(geo.locate("2a00:1450:4001:81b::200e")?.country?.length, 2);
  deepStrictEqual(geo.locate("198.51.100.1"), NOWHERE);
  ok(geo.description.includes("DB-IP"));
});

Deno.test("openGeo: a missing address and one that is not public have no place", async () => {
  const geo = await openGeo(null);
  const addresses = [
    "127.0.0.1",
    "10.1.2.3",
    "172.31.0.1",
    "192.168.1.1",
    "169.254.0.1",
    "100.64.0.1",
  ];
  for (
    const ip of [
      null,
      "",
      "text",
      ...addresses,
      "::1",
      "fe80::1%eth0",
      "fd00::1",
      "::ffff:10.0.0.1",
    ]
  ) {
    strictEqual(geo.locate(ip), null);
    strictEqual(geo.locate(ip), null);
  }
});

Deno.test("openGeo: reads both formats of city databases", async () => {
  const bytes = writeMmdb({
    "203.0.113.0/24": {
      country: { iso_code: "DE" },
      subdivisions: [{ iso_code: "BE", names: { en: "Land Berlin", de: "Berlin" } }],
      city: { names: { en: "Berlin" } },
    },
    "198.51.100.0/25": { country_code: "DE", state1: "Land Berlin", city: "Berlin" },
    "198.51.100.128/25": { continent: { code: "EU" }, registered_country: { iso_code: "US" } },
    "2001:db8::/32": { country: { iso_code: "FR" } },
    "192.0.2.0/24": { country_code: "ZZ", city: "", state1: 7, subdivisions: "none" },
  });
  await withDatabase(bytes, (geo) => {
    deepStrictEqual(geo.locate("203.0.113.9"), BERLIN);
    deepStrictEqual(geo.locate("::ffff:203.0.113.9"), BERLIN);
    deepStrictEqual(geo.locate("198.51.100.9"), BERLIN);
    deepStrictEqual(geo.locate("198.51.100.200"), NOWHERE);
    deepStrictEqual(geo.locate("192.0.2.1"), NOWHERE);
    deepStrictEqual(geo.locate("2001:db8::5"), { country: "FR", region: null, city: null });
    deepStrictEqual(geo.locate("8.8.8.8"), NOWHERE);
    strictEqual(geo.description, "Test-City, 2026-01-01");
  });
});

Deno.test("openGeo: a database of only IPv4 knows no place of IPv6", async () => {
  await withDatabase(writeMmdb({ "32.0.0.0/8": { country_code: "US" } }, 4), (geo) => {
    deepStrictEqual(geo.locate("32.1.2.3"), { country: "US", region: null, city: null });
    deepStrictEqual(geo.locate("2001:db8::1"), NOWHERE);
  });
});

Deno.test("openGeo: a wrong GEO_DATABASE is named in a sentence", async () => {
  const sentence = (part: string) => (error: Error) => {
    ok(error.message.includes("GEO_DATABASE") && error.message.includes(part), error.message);
    return true;
  };
  await rejects(openGeo("/nowhere/at/all.mmdb"), sentence("no such file"));
  await rejects(openGeo("/"), sentence("cannot be read"));
  const good = writeMmdb({ "8.0.0.0/8": { country_code: "US" } });
  const lines = new TextEncoder().encode("a line of text\n".repeat(50));
  for (const bytes of [new Uint8Array(), lines, good.subarray(0, 300), good.subarray(-150)]) {
    await withFile(bytes, (path) => rejects(openGeo(path), sentence("not a database")));
  }
});
