const MINUTE_MS = 60_000;

const formats = new Map<string, Intl.DateTimeFormat>();

function formatOf(zone: string): Intl.DateTimeFormat {
  return formats.getOrInsertComputed(zone, () =>
    new Intl.DateTimeFormat("en-US", {
      timeZone: zone,
      calendar: "iso8601",
      hourCycle: "h23",
      year: "numeric",
      month: "2-digit",
      day: "2-digit",
      hour: "2-digit",
      minute: "2-digit",
      second: "2-digit",
    }));
}

/** Returns how many milliseconds clocks in the zone are ahead of UTC at an instant. */
function offsetMs(instantMs: number, zone: string): number {
  const parts = Object.fromEntries(
    formatOf(zone).formatToParts(instantMs).map(({ type, value }) => [type, Number(value)]),
  );
  const local = Date.UTC(
    parts.year!,
    parts.month! - 1,
    parts.day,
    parts.hour,
    parts.minute,
    parts.second,
  );
  return local - Math.floor(instantMs / 1000) * 1000;
}

/**
 * Returns the instant of a local time of the zone that is written as if it were UTC: projects of Mixpanel
 * from before 2023 export such times. In an hour that occurs twice it is the first.
 */
export function instantOf(shownMs: number, zone: string | null): number {
  if (zone === null) return shownMs;
  // The offset of the day before is the one before a change of the clocks.
  for (const at of [shownMs - 24 * 60 * MINUTE_MS, shownMs, shownMs + 24 * 60 * MINUTE_MS]) {
    const instant = shownMs - offsetMs(at, zone);
    if (instant + offsetMs(instant, zone) === shownMs) return instant;
  }
  return shownMs - offsetMs(shownMs, zone);
}
