import { API_KEY, pause } from "../../tests/support/server_process.ts";
import type { Attack, Field } from "./ground.ts";

const BATCH_EVENTS = 500;
const DAY_MS = 86_400_000;

/** Devices that are seen alone, then with one user, then, a day earlier, with another one. */
function stormOf(devices: number): object[] {
  const each = (of: (i: number) => object) =>
    Array.from({ length: devices }, (_, i) => ({
      eventId: crypto.randomUUID(),
      name: "page_view",
      anonymousId: `device_${i}`,
      ...of(i),
    }));
  const yesterday = new Date(Date.now() - DAY_MS).toISOString();
  return [
    ...each(() => ({})),
    ...each((i) => ({ userId: `first_${i}` })),
    ...each((i) => ({ userId: `second_${i}`, timestamp: yesterday })),
  ];
}

async function storm({ url, short, progress }: Field): Promise<string> {
  const events = stormOf(short ? 300 : 3_000);
  for (let i = 0; i < events.length; i += BATCH_EVENTS) {
    const body = JSON.stringify({ events: events.slice(i, i + BATCH_EVENTS) });
    const reply = await fetch(`${url}/v1/events`, {
      method: "POST",
      headers: { "X-API-Key": API_KEY },
      body,
    });
    await reply.body?.cancel();
  }
  progress("sent");
  await pause(short ? 5_000 : 45_000);
  return `${events.length} events`;
}

/** Devices that many people share, by nothing but the public key. */
export const IDENTITY_STORM: Attack = {
  name: "identity_storm",
  engines: ["postgres", "embedded"],
  run: storm,
};
