/// <reference lib="dom" />
import { useEffect, useState } from "preact/hooks";
import { BASE_PATH } from "./base_path.ts";
import { integer } from "./number_format.ts";

const LOOK_AGAIN_MS = 60_000;
const MEBIBYTE = 2 ** 20;

interface DiskCheck {
  readonly status: "ok" | "low" | "full";
  readonly message: string;
  readonly freeBytes: number;
}

/** What `/readyz` reports of the disk; null: nothing. */
async function readDisk(signal: AbortSignal): Promise<DiskCheck | null> {
  try {
    const response = await fetch(`${BASE_PATH}/readyz`, { signal });
    return (await response.json()).checks?.disk ?? null;
  } catch {
    return null;
  }
}

/** Warns that the server's disk is full, or nearly so. */
export function DiskWarning() {
  const [disk, setDisk] = useState<DiskCheck | null>(null);
  useEffect(() => {
    const closed = new AbortController();
    const look = () => void readDisk(closed.signal).then(setDisk);
    const timer = setInterval(() => document.hidden || look(), LOOK_AGAIN_MS);
    look();
    return () => {
      clearInterval(timer);
      closed.abort();
    };
  }, []);
  if (disk === null || disk.status === "ok") return null;
  return (
    <p class="banner" role={disk.status === "full" ? "alert" : "status"}>
      {disk.message} {integer(Math.floor(disk.freeBytes / MEBIBYTE))} MB are left.
    </p>
  );
}
