/** Parses server-sent events from a stream's text. */

export interface ServerEvent {
  readonly event: string;
  readonly data: string;
}

function eventOf(block: string): ServerEvent | null {
  let event = "message";
  const data: string[] = [];
  for (const line of block.split("\n")) {
    const [, name, value = ""] = /^([^:]*)(?:: ?(.*))?$/.exec(line) ?? [];
    if (name === "event") event = value;
    if (name === "data") data.push(value);
  }
  return data.length === 0 ? null : { event, data: data.join("\n") };
}

/** The complete events of `text`, without comments, and the incomplete rest. */
export function takeEvents(text: string): { events: ServerEvent[]; rest: string } {
  const blocks = text.replaceAll("\r\n", "\n").split("\n\n");
  const rest = blocks.pop()!;
  return { events: blocks.map(eventOf).filter((event) => event !== null), rest };
}

/**
 * The events of a body as they arrive. Throws what reading the body throws.
 * @param heard called whenever anything arrives, also a comment
 */
export async function* eventsOf(
  body: ReadableStream<Uint8Array<ArrayBuffer>>,
  heard: () => void = () => {},
): AsyncGenerator<ServerEvent> {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  try {
    while (true) {
      const { value, done } = await reader.read();
      if (done) return;
      heard();
      const taken = takeEvents(text + value);
      text = taken.rest;
      yield* taken.events;
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}
