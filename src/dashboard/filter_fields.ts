import type { Filter } from "./location_query.ts";
import { countryName } from "./number_format.ts";
import { isPathField, readablePath } from "../readable_path.ts";
import { SHARE_ID } from "./share.ts";

/** The fields of filters and breakdowns, with their labels. */
export const FIELDS: readonly { readonly field: string; readonly label: string; group: string }[] =
  [
    { field: "name", label: "Event", group: "Event" },
    { field: "path", label: "Page", group: "Event" },
    { field: "host", label: "Host", group: "Event" },
    { field: "title", label: "Page title", group: "Event" },
    { field: "userId", label: "User", group: "Event" },
    { field: "anonymousId", label: "Anonymous id", group: "Event" },
    { field: "channel", label: "Channel", group: "Visit" },
    { field: "source", label: "Source", group: "Visit" },
    { field: "medium", label: "Medium", group: "Visit" },
    { field: "campaign", label: "Campaign", group: "Visit" },
    { field: "term", label: "Term", group: "Visit" },
    { field: "content", label: "Content", group: "Visit" },
    { field: "referrer", label: "Referrer", group: "Visit" },
    { field: "entryPath", label: "Entry page", group: "Visit" },
    { field: "exitPath", label: "Exit page", group: "Visit" },
    { field: "country", label: "Country", group: "People" },
    { field: "region", label: "Region", group: "People" },
    { field: "city", label: "City", group: "People" },
    { field: "browser", label: "Browser", group: "People" },
    { field: "os", label: "Operating system", group: "People" },
    { field: "device", label: "Device", group: "People" },
  ];

/** What the field of a property begins with. */
export const PROPERTY = "properties.";

/** Fields that identify people. */
const NAMING = ["userId", "anonymousId"];

/** The fields on offer: in a share, none that identifies people. */
export function offeredFields(): typeof FIELDS {
  return SHARE_ID === null ? FIELDS : FIELDS.filter(({ field }) => !NAMING.includes(field));
}

/** Whether figures can be split by it: not by what one person may have several of. */
export function splits(field: string): boolean {
  return field !== "anonymousId";
}

/** The value of the row that sums all values without a row of their own. */
export const OTHER = "$other";
export const OTHER_TEXT = "Values of too few visitors to be shown one by one";

/** The operators, with the words between a field and its values. */
export const OPS: readonly { readonly op: string; readonly label: string }[] = [
  { op: "is", label: "is" },
  { op: "is_not", label: "is not" },
  { op: "contains", label: "contains" },
  { op: "not_contains", label: "does not contain" },
  { op: "starts_with", label: "starts with" },
  { op: "matches", label: "matches pattern" },
  { op: "exists", label: "is set" },
  { op: "not_exists", label: "is not set" },
];
/** The operators that compare a property's numbers. */
export const COMPARING_OPS: readonly { readonly op: string; readonly label: string }[] = [
  { op: "gt", label: "is more than" },
  { op: "gte", label: "is at least" },
  { op: "lt", label: "is less than" },
  { op: "lte", label: "is at most" },
];

/** True for a field of the form `properties.<key>`. */
export function isProperty(field: string): boolean {
  return field.startsWith(PROPERTY);
}

/** Whether the operator takes no values. */
export function isValueless(op: string): boolean {
  return op === "exists" || op === "not_exists";
}

/** The operators that a field takes. */
export function opsOf(field: string): readonly { readonly op: string; readonly label: string }[] {
  return isProperty(field) ? [...OPS, ...COMPARING_OPS] : OPS;
}

/** A field's label; for a property, its key. */
export function fieldLabel(field: string): string {
  if (isProperty(field)) return field.slice(PROPERTY.length);
  return FIELDS.find((each) => each.field === field)?.label ?? field;
}

const DEVICES: Readonly<Record<string, string>> = {
  desktop: "Desktop",
  tablet: "Tablet",
  mobile: "Mobile",
  other: "Other",
};
/** The label of null, by field. */
const MISSING: Readonly<Record<string, string>> = {
  source: "Direct",
  referrer: "Direct",
  country: "Unknown",
  region: "Unknown",
  city: "Unknown",
  browser: "Unknown",
  os: "Unknown",
  device: "Unknown",
};

/** The label of a field's value: countries by name, paths as people read them, null by a word. */
export function valueLabel(field: string, value: string | number | boolean | null): string {
  if (value === null) return MISSING[field] ?? "(none)";
  if (value === OTHER) return "All others";
  if (field === "country" && typeof value === "string") return countryName(value);
  if (field === "device") return DEVICES[String(value)] ?? String(value);
  if (isPathField(field)) return readablePath(String(value));
  return String(value);
}

/** A filter in words: "Country is Germany or Austria". */
export function filterText({ field, op, values }: Filter): string {
  const verb = opsOf(field).find((each) => each.op === op)?.label ?? op;
  const joint = op.startsWith("not_") || op === "is_not" ? " and " : " or ";
  const shown = values.map((value) => valueLabel(field, value)).join(joint);
  return [fieldLabel(field), verb, shown].filter((part) => part !== "").join(" ");
}
