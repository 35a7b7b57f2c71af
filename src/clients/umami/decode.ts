import { Problem } from "../../problem.ts";
import type { ClientBatch, ClientKey } from "../client_event.ts";
import { isMembers } from "../../json_text.ts";
import { mapItem } from "./map.ts";

function websiteOf(item: unknown): unknown {
  return isMembers(item) && isMembers(item.payload) ? item.payload.website : undefined;
}

function keyOf(website: unknown): ClientKey | null {
  return typeof website === "string" && website !== "" ? { value: website, from: "body" } : null;
}

/** The body of `/api/send`: one item, whose `website` is the key. */
export function readSend(value: unknown): ClientBatch {
  if (!isMembers(value)) {
    throw new Problem("invalid_envelope", "Send one object { type, payload } as JSON.");
  }
  return { key: keyOf(websiteOf(value)), sentAt: null, items: [mapItem(value)] };
}

/** The body of `/api/batch`: a list of such items, all of one website. */
export function readBatch(value: unknown): ClientBatch {
  if (!Array.isArray(value)) {
    throw new Problem("invalid_envelope", "Send a list of objects { type, payload } as JSON.");
  }
  const website = value.map(websiteOf).find((one) => one !== undefined);
  const items = value.map((item) =>
    websiteOf(item) === website
      ? mapItem(item)
      : { refused: "Send the events of one website in one request." }
  );
  return { key: keyOf(website), sentAt: null, items };
}
