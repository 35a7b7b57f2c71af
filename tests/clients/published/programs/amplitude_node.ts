/** `@amplitude/analytics-node` as a server uses it: 1,000 events and an identify. Arguments: address, key, time of the first. */
import * as amplitude from "@amplitude/analytics-node";

const [serverUrl, key, start] = Deno.args as [string, string, string];
const START_MS = Number(start);

await amplitude.init(key, {
  serverUrl,
  flushQueueSize: 50,
  flushIntervalMillis: 100,
  logLevel: amplitude.Types.LogLevel.None,
}).promise;
const sent = Array.from({ length: 1_000 }, (_, i) => {
  const properties = { i, "[Amplitude] Page Location": `https://shop.example/checkout/${i}` };
  const user = `user-${i % 10}`;
  const of = { user_id: user, device_id: `device of ${user}`, time: START_MS + i * 1_000 };
  return amplitude.track("paid", properties, of).promise;
});
const traits = new amplitude.Identify().set("plan", "pro");
sent.push(amplitude.identify(traits, { user_id: "user-1", device_id: "device-1" }).promise);
const results = await Promise.all(sent);
const errors = results.filter(({ code }) => code !== 200).map(({ message }) => message);
console.log(JSON.stringify({ errors }));
