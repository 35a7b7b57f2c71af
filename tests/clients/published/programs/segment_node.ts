/** A server that reports 1,000 events by Segment's library. Its arguments: the host, the key, when it began. */
import { Analytics } from "@segment/analytics-node";

const [host = "", writeKey = "", startMs = "0"] = Deno.args;
const analytics = new Analytics({ host, writeKey, flushAt: 20, flushInterval: 200 });
const mistakes: unknown[] = [];
analytics.on("error", (error) => mistakes.push(error));

const context = {
  ip: "81.2.69.142",
  userAgent:
    "Mozilla/5.0 (iPhone; CPU iPhone OS 17_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.0 Mobile/15E148 Safari/604.1",
  page: { url: "https://shop.example/cart?utm_source=mail", title: "Cart" },
};
const at = (i: number) => new Date(Number(startMs) + i * 1_000);
for (let i = 0; i < 997; i++) {
  analytics.track({
    event: `Ordered ${i % 3}`,
    userId: `user-${i % 10}`,
    anonymousId: `anon-${i % 10}`,
    timestamp: at(i),
    properties: { number: i },
    context,
  });
}
const who = { userId: "user-1", timestamp: at(997), context };
analytics.page({ ...who, name: "Basket", properties: { url: "https://shop.example/own" } });
analytics.identify({ ...who, anonymousId: "anon-new", traits: { plan: "b" } });
analytics.alias({ ...who, previousId: "anon-old" });
await analytics.closeAndFlush({ timeout: 60_000 });
console.log(JSON.stringify({ mistakes: mistakes.map((one) => JSON.stringify(one)) }));
