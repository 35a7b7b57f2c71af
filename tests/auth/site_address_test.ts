import assert from "node:assert/strict";
import { isPublicSite } from "../../src/auth/site_address.ts";
import { onBothEngines } from "../support/databases.ts";
import { authServer, openMigrated } from "./auth_server.ts";

const OWN_NETWORK = [
  "http://127.0.0.1:3000",
  "http://127.1",
  "http://2130706433",
  "http://0x7f.0.0.1",
  "http://0177.0.0.1",
  "http://127.0.0.1.:8000",
  "http://0.0.0.0",
  "http://10.1.2.3",
  "http://172.16.0.1",
  "http://192.168.1.1/admin",
  "http://169.254.169.254/latest/meta-data",
  "http://100.64.0.1",
  "http://[::1]:8000",
  "http://[::]",
  "http://[fd00::1]",
  "http://[fe80::1]",
  "http://[::ffff:127.0.0.1]",
  "http://[::ffff:a00:1]",
  "http://[64:ff9b::7f00:1]",
  "http://localhost:8080",
  "http://LOCALHOST./",
  "http://app.localhost",
  "http://printer.local",
  "http://metadata.google.internal",
  "http://nas.home.arpa",
  "http://intranet",
];
const PUBLIC = [
  "https://shop.example",
  "https://www.xn--bcher-kva.example/de",
  "http://8.8.8.8",
  "http://[2606:4700::1111]",
  "https://localhost.example",
  "https://internal.example.com",
];

Deno.test("isPublicSite: addresses and names of the own network, in any notation", () => {
  for (const url of OWN_NETWORK) assert.equal(isPublicSite(url), false, url);
  for (const url of PUBLIC) assert.equal(isPublicSite(url), true, url);
});

onBothEngines("site URLs: only operators may set one of the own network", async (_, db) => {
  const sql = await openMigrated(db);
  const server = authServer(sql);
  const operator = await server.grant();
  const owner = await server.grant({ projects: ["prj_a"] });
  const change = (token: string, body: unknown) =>
    server.call("PATCH", "/v1/projects/prj_a", token, body);
  const isOperators = async () => {
    const [row] = await sql.query("SELECT site_url_by_operator FROM projects");
    return row?.site_url_by_operator;
  };
  const own = "http://127.0.0.1:3000";
  const made = { id: "prj_a", name: "A", siteUrl: own };
  assert.equal((await server.call("POST", "/v1/projects", operator, made)).status, 201);
  assert.equal(await isOperators(), true);

  // What is there already may be sent beside another change, as forms do.
  assert.equal((await change(owner, { name: "B", siteUrl: own })).status, 200);
  assert.equal(await isOperators(), true);
  for (const siteUrl of OWN_NETWORK.slice(1)) {
    const { status, body } = await change(owner, { siteUrl });
    assert.deepEqual([status, body.code], [403, "insufficient_scope"], siteUrl);
    assert.match(body.detail, /Give a public one, or let somebody set it/);
  }
  for (const siteUrl of [...PUBLIC, null]) {
    assert.equal((await change(owner, { siteUrl })).status, 200);
    assert.equal(await isOperators(), false);
  }
  assert.equal((await change(owner, { siteUrl: own })).status, 403);

  assert.equal((await change(operator, { siteUrl: own })).status, 200);
  assert.equal(await isOperators(), true);
  // As before the update, when nobody kept who had set it.
  await sql.query("UPDATE projects SET site_url_by_operator = false");
  assert.equal((await change(owner, { siteUrl: own })).status, 200);
  assert.equal(await isOperators(), false);
});
