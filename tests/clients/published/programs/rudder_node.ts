/** A server that reports 1,000 events by RudderStack's library. Its arguments: the host, the key, when it began. */
import RudderAnalytics from "@rudderstack/rudder-sdk-node";

const [dataPlaneUrl = "", writeKey = "", startMs = "0"] = Deno.args;
const mistakes: string[] = [];
const analytics = new RudderAnalytics(writeKey, {
  dataPlaneUrl,
  flushAt: 50,
  flushInterval: 200,
  logLevel: "silly",
  errorHandler: (error: unknown) => void mistakes.push(String(error)),
});

const context = {
  ip: "81.2.69.142",
  userAgent:
    "Mozilla/5.0 (iPhone; CPU iPhone OS 17_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.0 Mobile/15E148 Safari/604.1",
  page: { url: "https://shop.example/cart?utm_source=mail", title: "Cart" },
};
const at = (i: number) => new Date(Number(startMs) + i * 1_000);
let delivered = 0;
const done = (error?: unknown) => {
  if (error) mistakes.push(String(error));
  else delivered++;
};
for (let i = 0; i < 997; i++) {
  analytics.track({
    event: `Ordered ${i % 3}`,
    userId: `user-${i % 10}`,
    anonymousId: `anon-${i % 10}`,
    timestamp: at(i),
    properties: { number: i },
    context,
  }, done);
}
const who = { userId: "user-1", timestamp: at(997), context };
analytics.page({ ...who, name: "Basket", properties: { url: "https://shop.example/own" } }, done);
analytics.identify({ ...who, anonymousId: "anon-new", traits: { plan: "b" } }, done);
analytics.alias({ ...who, previousId: "anon-old" }, done);
while (delivered + mistakes.length < 1_000) {
  await analytics.flush();
  await new Promise((resolve) => setTimeout(resolve, 20));
}
console.log(JSON.stringify({ mistakes }));
Deno.exit(0);
