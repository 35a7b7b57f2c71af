export type SnippetKind = "script" | "module" | "curl";

interface SnippetOf {
  /** The deployment's address, without a slash at its end. */
  readonly server: string;
  readonly key: string;
  /** A new one means a new event. */
  readonly turn: string;
}

const eventIds = new Map<string, string>();

/** `crypto.randomUUID` does not exist on pages that came over plain HTTP. */
function randomUuid(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = (bytes[6]! & 0x0f) | 0x40;
  bytes[8] = (bytes[8]! & 0x3f) | 0x80;
  const hex = [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
}

/** The same id for the same event, so that the snippet does not change while it is read. */
function eventIdOf(turn: string): string {
  const id = eventIds.get(turn) ?? randomUuid();
  eventIds.set(turn, id);
  return id;
}

/** What is pasted into a page, a program or a terminal to send events. */
export function snippetOf(kind: SnippetKind, { server, key, turn }: SnippetOf): string {
  switch (kind) {
    case "script":
      return `<script defer src="${server}/sdk.js" data-api-key="${key}"></script>`;
    case "module":
      return `import { createAnalytics } from "${server}/sdk.mjs";

const analytics = createAnalytics({
  apiKey: "${key}",
  endpoint: "${server}",
  autocapture: true,
});
analytics.track("signed_up", { plan: "pro" });`;
    case "curl":
      return `curl ${server}/v1/events \\
  -H "X-API-Key: ${key}" \\
  -H "Content-Type: application/json" \\
  -d '{"events":[{"eventId":"${eventIdOf(turn)}","name":"hello","path":"/"}]}'`;
  }
}
