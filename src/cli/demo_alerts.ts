import { callApi, type Connection } from "./connection.ts";

const ALERTS = {
  "slow-on-phones": {
    title: "Pages are slow on phones",
    on: {
      kind: "threshold",
      question: {
        vital: "lcp",
        filters: [{ field: "device", op: "is", values: ["mobile"] }],
      },
      above: 2_000,
      over: "7d",
    },
  },
  "checkout-loses-people": {
    title: "The checkout loses people",
    on: { kind: "threshold", question: { funnel: "checkout" }, below: 0.01, over: "7d" },
  },
  "something-changed": {
    title: "Something changed",
    on: { kind: "finding", score: 0.1 },
  },
  silence: {
    title: "Nobody is in the shop",
    on: { kind: "silence", minutes: 180 },
  },
};
const DIGEST = {
  title: "The shop, every Monday",
  every: "weekly",
  questions: [
    { funnel: "checkout" },
    { goal: "purchase", measure: "amount" },
    { metric: "visitors", segment: "buyers" },
    { vital: "lcp" },
  ],
};

/**
 * Makes the demo's alerts and its digest, unless the project has any. They have no recipients, so that nothing
 * leaves the machine: their messages are only listed. The digest's first one is sent at once, as a test.
 */
export async function provideDemoAlerts(connection: Connection, project: string): Promise<void> {
  const query = `?project=${encodeURIComponent(project)}`;
  const listed = async (many: "alerts" | "digests") =>
    (await callApi<Record<string, readonly unknown[]>>(connection, "GET", `/v1/${many}${query}`))[
      many
    ]!;
  if ((await listed("alerts")).length + (await listed("digests")).length > 0) return;
  for (const [slug, alert] of Object.entries(ALERTS)) {
    await callApi(connection, "PUT", `/v1/alerts/${slug}${query}`, alert);
  }
  await callApi(connection, "PUT", `/v1/digests/monday${query}`, DIGEST);
  await callApi(connection, "POST", `/v1/digests/monday/test${query}`);
}
