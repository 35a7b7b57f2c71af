/**
 * A server that reports 1,000 events by Umami's library, and tries again what failed: the library does
 * not. Its arguments: the host, the website, when it began.
 */
import { Umami } from "@umami/node";

const [hostUrl = "", websiteId = "", startMs = "0"] = Deno.args;
const umami = new Umami({ hostUrl, websiteId });
const STREAMS = 8;
const TRACKED = 998;
const PATIENCE = 5;
let failures = 0;
const replies: unknown[] = [];

async function insist(send: () => Promise<Response>): Promise<void> {
  for (let tries = 0; tries < PATIENCE; tries++) {
    try {
      const reply = await send();
      if (reply.ok) return void replies.push(await reply.json());
      await reply.body?.cancel();
    } catch {
      // Broken off: once more.
    }
    failures++;
  }
  throw new Error("Too many failures in a row");
}

const page = (i: number) => ({
  hostname: "shop.example",
  url: `/cart?utm_source=mail&n=${i}`,
  referrer: "https://search.example/",
  title: "Cart",
  language: "de",
  screen: "1920x1080",
  timestamp: Math.floor(Number(startMs) / 1_000) + i,
});
let next = 0;
const tracked = Array.from({ length: STREAMS }, async () => {
  for (let i = next++; i < TRACKED; i = next++) {
    const event = {
      ...page(i),
      name: `Ordered ${i % 3}`,
      id: `user-${i % 10}`,
      data: { number: i },
    };
    await insist(() => umami.track(event));
  }
});
await Promise.all(tracked);
await insist(() => umami.track(page(TRACKED)));
await insist(() => umami.identify({ plan: "b" }));
console.log(JSON.stringify({ failures, replies: replies.length, last: replies.at(-1) }));
