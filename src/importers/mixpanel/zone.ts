const MINUTE_MS = 60_000;

const formats = new Map<string, Intl.DateTimeFormat>();

function formatOf(zone: string): Intl.DateTimeFormat {
  let format = formats.get(zone);
  if (format === undefined) {
    format = new Intl.DateTimeFormat("en-US", {
      timeZone: zone,
      calendar: "iso8601",
      hourCycle: "h23",
      year: "numeric",
      month: "2-digit",
      day: "2-digit",
      hour: "2-digit",
      minute: "2-digit",
      second: "2-digit",
    });
    formats.set(zone, format);
  }
  return format;
}

/** What clocks in the zone are ahead of UTC at an instant. */
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
 * The instant of a time that a clock in the zone showed, told as if it had been one in UTC: projects of
 * Mixpanel from before 2023 export such times. Of an hour that came twice it is the first.
 */
export function instantOf(shownMs: number, zone: string | null): number {
  if (zone === null) return shownMs;
  // The offset a day before is that of the time before a change.
  for (const at of [shownMs - 24 * 60 * MINUTE_MS, shownMs, shownMs + 24 * 60 * MINUTE_MS]) {
    const instant = shownMs - offsetMs(at, zone);
    if (instant + offsetMs(instant, zone) === shownMs) return instant;
  }
  return shownMs - offsetMs(shownMs, zone);
}
