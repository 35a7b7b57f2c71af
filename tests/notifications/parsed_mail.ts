/** A mail with parts, as a mail program reads it: enough for what tests look at. */
import { Buffer } from "node:buffer";

export interface ParsedMail {
  /** By their names in lower case, unfolded. */
  readonly headers: Record<string, string>;
  readonly text: string;
  readonly html: string;
  readonly pictures: readonly {
    readonly type: string;
    readonly cid: string;
    readonly bytes: Uint8Array;
  }[];
}

interface Part {
  readonly headers: Record<string, string>;
  readonly bytes: Uint8Array;
}

function quotedPrintable(text: string): Uint8Array {
  const joined = text.replace(/=\r\n/g, "");
  const bytes = joined.replace(
    /=([0-9A-F]{2})/g,
    (_, hex) => String.fromCharCode(parseInt(hex, 16)),
  );
  return Buffer.from(bytes, "latin1");
}

/** Words of a header that stand there in another encoding. */
function headerText(text: string): string {
  return text.replace(/\?=\s+=\?/g, "?==?").replace(
    /=\?UTF-8\?([QB])\?([^?]*)\?=/gi,
    (_, kind: string, word: string) =>
      kind.toUpperCase() === "B"
        ? Buffer.from(word, "base64").toString("utf8")
        : Buffer.from(quotedPrintable(word.replaceAll("_", " "))).toString("utf8"),
  );
}

function split(raw: string): { headers: Record<string, string>; body: string } {
  const at = raw.indexOf("\r\n\r\n");
  const lines = raw.slice(0, at).replace(/\r\n[ \t]+/g, " ").split("\r\n");
  const headers = Object.fromEntries(lines.map((line) => {
    const colon = line.indexOf(":");
    return [line.slice(0, colon).toLowerCase(), headerText(line.slice(colon + 1).trim())];
  }));
  return { headers, body: raw.slice(at + 4) };
}

function partsOf(raw: string): Part[] {
  const { headers, body } = split(raw);
  const boundary = /boundary="?([^";]+)"?/.exec(headers["content-type"] ?? "")?.[1];
  if (boundary !== undefined) {
    return body.split(`--${boundary}`).slice(1, -1).flatMap((part) =>
      partsOf(part.replace(/^\r\n/, ""))
    );
  }
  const encoding = headers["content-transfer-encoding"] ?? "";
  const bytes = /base64/i.test(encoding)
    ? Buffer.from(body, "base64")
    : /quoted/i.test(encoding)
    ? quotedPrintable(body)
    : Buffer.from(body, "latin1");
  return [{ headers, bytes: new Uint8Array(bytes) }];
}

export function parsedMail(raw: string): ParsedMail {
  const parts = partsOf(raw);
  const of = (type: string) =>
    parts.filter(({ headers }) => (headers["content-type"] ?? "").startsWith(type));
  const words = (type: string) => new TextDecoder().decode(of(type)[0]?.bytes ?? new Uint8Array());
  return {
    headers: split(raw).headers,
    text: words("text/plain"),
    html: words("text/html"),
    pictures: of("image/").map(({ headers, bytes }) => ({
      type: headers["content-type"]!.split(";")[0]!,
      cid: headers["content-id"]!.replace(/[<>]/g, ""),
      bytes,
    })),
  };
}
