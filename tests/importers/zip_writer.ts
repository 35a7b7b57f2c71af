import { crc32, deflateRawSync } from "node:zlib";

const LOCAL_BYTES = 30;
const ENTRY_BYTES = 46;
const END_BYTES = 22;

export interface ZipMember {
  readonly name: string;
  readonly bytes: Uint8Array;
  /** 0: as it is; absent: deflated. */
  readonly method?: number;
  readonly flags?: number;
  /** Another one than the true one. */
  readonly crc?: number;
  /** Another place of its local header than the true one. */
  readonly at?: number;
}

function record(bytes: number, fill: (view: DataView) => void): Uint8Array {
  const view = new DataView(new ArrayBuffer(bytes));
  fill(view);
  return new Uint8Array(view.buffer);
}

/** A zip of these files, as APPNOTE.TXT has it. */
export function zipOf(members: readonly ZipMember[]): Uint8Array {
  const parts: Uint8Array[] = [];
  const directory: Uint8Array[] = [];
  let at = 0;
  const add = (part: Uint8Array) => {
    parts.push(part);
    at += part.length;
  };
  for (const { name, bytes, method = 8, flags = 0, crc = crc32(bytes), at: told } of members) {
    const named = new TextEncoder().encode(name);
    const packed = method === 8 ? new Uint8Array(deflateRawSync(bytes)) : bytes;
    const begin = told ?? at;
    add(record(LOCAL_BYTES, (view) => {
      view.setUint32(0, 0x04034b50, true);
      view.setUint16(6, flags, true);
      view.setUint16(8, method, true);
      view.setUint16(26, named.length, true);
    }));
    add(named);
    add(packed);
    directory.push(
      record(ENTRY_BYTES, (view) => {
        view.setUint32(0, 0x02014b50, true);
        view.setUint16(8, flags, true);
        view.setUint16(10, method, true);
        view.setUint32(16, crc, true);
        view.setUint32(20, packed.length, true);
        view.setUint32(24, bytes.length, true);
        view.setUint16(28, named.length, true);
        view.setUint32(42, begin, true);
      }),
      named,
    );
  }
  const directoryAt = at;
  directory.forEach(add);
  const directoryBytes = at - directoryAt;
  add(record(END_BYTES, (view) => {
    view.setUint32(0, 0x06054b50, true);
    view.setUint16(8, members.length, true);
    view.setUint16(10, members.length, true);
    view.setUint32(12, directoryBytes, true);
    view.setUint32(16, directoryAt, true);
  }));
  const whole = new Uint8Array(at);
  let next = 0;
  for (const part of parts) {
    whole.set(part, next);
    next += part.length;
  }
  return whole;
}
