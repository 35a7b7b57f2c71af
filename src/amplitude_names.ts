/** Names of events of Amplitude, the same from its clients and from its exports. */

const NAMES: Readonly<Record<string, string>> = {
  "[Amplitude] Page Viewed": "page_view",
  $identify: "$identify",
  $groupidentify: "$group",
  session_start: "$session_start",
  session_end: "$session_end",
};
/** The prefix of names that Amplitude's own plugins report. */
const OWN = "[Amplitude] ";
/** What visitors do on purpose among the events that plugins report; the others are technical. */
const INTENTIONAL: ReadonlySet<string> = new Set([
  "[Amplitude] File Downloaded",
  "[Amplitude] Form Started",
  "[Amplitude] Form Submitted",
]);

/** Returns the name that an event of Amplitude has here: what Amplitude records by itself has a leading `$`. */
export function amplitudeEventName(type: string): string {
  if (Object.hasOwn(NAMES, type)) return NAMES[type]!;
  return type.startsWith(OWN) && !INTENTIONAL.has(type) ? `$${type}` : type;
}
