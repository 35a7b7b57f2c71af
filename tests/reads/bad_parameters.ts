/** Values that must be refused, by the parameter; `<path> <parameter>` where one differs there. */

const filter = (members: Record<string, unknown>) =>
  JSON.stringify([{ field: "path", op: "is", values: ["/"], ...members }]);
const steps = (count: number) => JSON.stringify(Array.from({ length: count }, () => "buy"));
const nested = (levels: number): unknown => levels === 0 ? "x" : [nested(levels - 1)];
const LONG_NAME = "x".repeat(201);
const MATCHES = [
  "{",
  "{}",
  '{"name":1}',
  '{"name":""}',
  '{"name":"a","filters":{}}',
  '{"name":"a","filters":[{"field":"nope","op":"exists"}]}',
  '{"name":"a","colour":"red"}',
  JSON.stringify({ name: LONG_NAME }),
  '{"name":"\\u0000"}',
  LONG_NAME,
  "a\0b",
];
const FIELDS = ["nope", "properties.", "Path", `properties.${LONG_NAME}`, "properties.a\0b"];
const LISTS_OF_MATCHES = ["x", "{", "{}", "[null]", '[{"label":"x"}]', '[{"name":"a","x":1}]'];

export const BAD_VALUES: Readonly<Record<string, readonly string[]>> = {
  from: [
    "yesterday",
    "2026-02-30",
    "2026-13-01",
    "2026-1-1",
    "2026-01-01T00:00",
    "1767225600000",
    "-000001-01-01",
    "0000-01-01",
    "9999-12-31",
  ],
  to: [
    "tomorrow",
    "2026-02-29",
    "2026-01-01T25:00Z",
    "2026-01-01 00:00Z",
    "0000-01-01",
    "9999-12-31",
  ],
  timezone: ["Mars/Base", "+01:00", "PST8", "Europe/Berlin;", "UTC\0", "x".repeat(80)],
  interval: ["minute", "Day", "days", "1d"],
  "/v1/retention interval": ["minute", "hour"],
  compare: [
    "last",
    "Previous",
    "{",
    "[]",
    "{}",
    '{"from":"2026-01-01"}',
    '{"from":"x","to":"2026-01-01"}',
    '{"from":"2026-01-02","to":"2026-01-01"}',
    '{"from":"2026-01-01","to":"2026-01-02","x":1}',
    '{"from":1,"to":2}',
  ],
  filters: [
    "x",
    "{}",
    "null",
    "[1]",
    filter({ field: "nope" }),
    filter({ field: "properties." }),
    filter({ op: "equals" }),
    filter({ values: "x" }),
    filter({ values: [] }),
    filter({ values: [null] }),
    filter({ values: [["/"]] }),
    filter({ values: ["a\0b"] }),
    filter({ values: ["\ud800"] }),
    filter({ values: ["x".repeat(2_049)] }),
    filter({ values: Array.from({ length: 101 }, String) }),
    filter({ op: "exists" }),
    filter({ op: "gt", values: [1] }),
    filter({ field: "properties.a", op: "gt", values: ["x"] }),
    filter({ op: "matches", values: ["("] }),
    filter({ op: "matches", values: ["(a)\\1"] }),
    filter({ op: "matches", values: ["a{1000}"] }),
    filter({ colour: "red" }),
    JSON.stringify(Array.from({ length: 21 }, () => ({ field: "path", op: "exists" }))),
    JSON.stringify(nested(12)),
    `[${" ".repeat(65_536)}]`,
  ],
  bots: ["yes", "Exclude", "true"],
  limit: ["0", "1001", "-1", "1.5", "1e2", "many", "0x10", " 1"],
  cursor: ["x", "!", "W10", "bnVsbA", "WzEsMl0", "é".repeat(30), "A".repeat(30_000)],
  after: ["x", "yesterday", "2026-02-30T00:00Z", "A".repeat(30_000)],
  by: FIELDS,
  "/v1/acquisition by": [...FIELDS, "path", "userId", "exitPath", "properties.plan"],
  goal: [LONG_NAME, "a\0b"],
  steps: [...LISTS_OF_MATCHES, "[]", steps(11)],
  window: ["7", "d", "7w", "0d", "-1d", "1.5h", "367d", "9999999999s", "7 d"],
  order: ["x", "Strict"],
  entry: ["x", "last"],
  exclude: [...LISTS_OF_MATCHES, steps(11)],
  start: MATCHES,
  return: MATCHES,
  cohort: ["x", "First"],
  criterion: ["x", "after"],
  periods: ["0", "61", "1.5", "-1", "x", "1e1"],
  event: [...MATCHES, "[]", "[1]", steps(11)],
  measure: [
    "median",
    "sum",
    "sum:price",
    "sum:properties.",
    "p95:properties.x",
    "total:properties.x",
  ],
  path: ["", `/${"x".repeat(2_048)}`, "/a\0b"],
  pattern: ["x".repeat(501), "/*"],
  device: ["phone", "Mobile"],
  kind: ["clicks", "Rage"],
  elements: ["-1", "1.5", "many", "1000000"],
};

/** What `pattern` is told of where `path` is given too, and the other way round: nothing is wrong alone. */
export function badValuesOf(path: string, parameter: string): readonly string[] {
  return BAD_VALUES[`${path} ${parameter}`] ?? BAD_VALUES[parameter] ?? [];
}
