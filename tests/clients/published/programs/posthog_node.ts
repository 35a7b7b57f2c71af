/** `posthog-node` as a server uses it: 1,000 events, an identify, an alias, a group. Arguments: host, key, time of the first. */
import { PostHog } from "posthog-node";

const [host, key, start] = Deno.args as [string, string, string];
const START_MS = Number(start);
const errors: string[] = [];

const client = new PostHog(key, { host, flushAt: 50, flushInterval: 500, fetchRetryDelay: 100 });
client.on("error", (error: unknown) => errors.push(String(error)));
for (let i = 0; i < 1_000; i++) {
  client.capture({
    distinctId: `user-${i % 10}`,
    event: "paid",
    properties: { i, $current_url: `https://shop.example/checkout/${i}?utm_source=letter` },
    timestamp: new Date(START_MS + i * 1_000),
  });
}
client.identify({ distinctId: "user-1", properties: { plan: "pro" } });
client.alias({ distinctId: "user-2", alias: "browser-2" });
client.groupIdentify({ groupType: "company", groupKey: "acme", properties: { seats: 7 } });
const flags = await client.getAllFlags("user-1");
await client.shutdown(200_000);
console.log(JSON.stringify({ errors, flags }));
