import { RejectedEvent, suspicionOf } from "../ingest/event_schema.ts";
import { readLine } from "../ingest/imported_event.ts";
import { parseJson } from "../json_text.ts";
import {
  type ImportHooks,
  type ImportLine,
  type ImportSum,
  NOTHING_IMPORTED,
  reasonOf,
  type RefusalReason,
} from "./import_lines.ts";

/** Checks every line as the server would, and sends nothing. */
export async function checkLines(
  lines: AsyncIterable<readonly ImportLine[]>,
  { refused, settled }: ImportHooks,
  nowMs: number,
): Promise<ImportSum> {
  let sum = NOTHING_IMPORTED;
  for await (const chunk of lines) {
    for (const line of chunk) {
      const reason = line.refused ?? refusalOfLine(line, nowMs);
      if (reason !== null) await refused({ line, ...reason });
      sum = {
        ...sum,
        lines: sum.lines + 1,
        accepted: sum.accepted + (reason === null ? 1 : 0),
        rejected: sum.rejected + (reason === null ? 0 : 1),
        number: line.number,
        end: line.end,
      };
    }
    await settled(sum);
  }
  return sum;
}

const STRICT = new TextDecoder("utf-8", { fatal: true });

/** Returns why a server would refuse the line; null: it would store it. */
function refusalOfLine(line: ImportLine, nowMs: number): RefusalReason | null {
  let text: string;
  try {
    text = STRICT.decode(line.bytes);
  } catch {
    return { code: "invalid_encoding", message: "The line is not valid UTF-8." };
  }
  let value: unknown;
  try {
    value = parseJson(text);
  } catch {
    return reasonOf(line, { code: "invalid_json", message: "The line is not valid JSON." });
  }
  try {
    readLine(value, suspicionOf(text), nowMs);
    return null;
  } catch (error) {
    if (!(error instanceof RejectedEvent)) throw error;
    return { code: error.code, message: error.message };
  }
}
