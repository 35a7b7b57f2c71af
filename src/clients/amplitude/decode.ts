import { Problem } from "../../problem.ts";
import type { ClientBatch, ClientRequest } from "../client_event.ts";
import { isMembers } from "../../json_text.ts";
import { mapEvent } from "./map.ts";

/** Reads an upload. Throws `invalid_envelope` if it is not an object with `events`. */
export function readUpload(value: unknown, _request?: ClientRequest): ClientBatch {
  if (!isMembers(value) || !Array.isArray(value.events)) {
    throw new Problem("invalid_envelope", "Send an object with `api_key` and a list of `events`.");
  }
  const { api_key: key } = value;
  return {
    key: typeof key === "string" && key !== "" ? { value: key, from: "body" } : null,
    sentAt: value.client_upload_time ?? null,
    items: value.events.map(mapEvent),
    protocol: "amplitude",
  };
}
