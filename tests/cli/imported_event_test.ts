import assert from "node:assert/strict";
import { importedEvent } from "../../src/cli/imported_event.ts";

const EXPORTED = {
  eventId: "0197a8e2-7c3b-7d1e-9f42-5b6c7d8e9f01",
  name: "page_view",
  timestamp: "2026-11-01T10:00:00.000Z",
  clock: "client",
  anonymousId: "a",
  url: "https://shop.example/",
  path: "/",
  properties: { plan: "pro", server: { ip: "84.138.30.31", geo: null, hash: "x" } },
  context: { viewport: { width: 1, height: 2 }, screen: null, locale: "de", timezone: null },
  campaign: { source: null },
  browser: "Chrome",
  os: "Windows",
  device: "desktop",
  bot: false,
  extra: { tenant: "t1", context: { theme: "dark" } },
};

Deno.test("importedEvent: an exported event becomes what was once posted", () => {
  const { event, sender } = importedEvent(EXPORTED);
  assert.deepEqual(event, {
    eventId: EXPORTED.eventId,
    name: "page_view",
    timestamp: EXPORTED.timestamp,
    anonymousId: "a",
    url: "https://shop.example/",
    path: "/",
    properties: { plan: "pro" },
    context: { ...EXPORTED.context, theme: "dark" },
    tenant: "t1",
  });
  assert.deepEqual(sender, { address: "84.138.30.31", userAgent: null });
});

Deno.test("importedEvent: a crawler stays one, a backend's event stays out of sessions", () => {
  assert.match(importedEvent({ ...EXPORTED, bot: true }).sender.userAgent ?? "", /bot/);
  const { event } = importedEvent({ ...EXPORTED, inSession: false });
  assert.deepEqual(event.properties, { plan: "pro", $session: false });
});

Deno.test("importedEvent: a posted event keeps all but the visitor's address and user agent", () => {
  const posted = {
    eventId: EXPORTED.eventId,
    browser: "mine",
    clock: 12,
    properties: { a: 1 },
    context: { ip: "84.138.30.31", userAgent: "Mozilla/5.0", locale: "de" },
  };
  assert.deepEqual(importedEvent(posted), {
    event: { ...posted, context: { locale: "de" } },
    sender: { address: "84.138.30.31", userAgent: "Mozilla/5.0" },
  });
});

Deno.test("importedEvent: what cannot travel in a header is left unknown, never thrown", () => {
  const hostile = [
    "a\r\nX-API-Key: b",
    "\u0000",
    "日本",
    5,
    null,
    {},
    "x".repeat(3),
  ];
  for (const value of hostile) {
    const { sender } = importedEvent({ context: { ip: value, userAgent: value } });
    new Headers({ address: sender.address ?? "", agent: sender.userAgent ?? "" });
  }
  assert.deepEqual(importedEvent({ context: { ip: "a\r\nb", userAgent: "日本" } }).sender, {
    address: null,
    userAgent: null,
  });
  assert.deepEqual(importedEvent({ context: 5, properties: [] }).sender.address, null);
});
