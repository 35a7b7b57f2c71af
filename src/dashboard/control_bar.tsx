/// <reference lib="dom" />
import { useState } from "preact/hooks";
import { type Choice, SelectField } from "./field.tsx";
import { AddFilter, FilterChips, FilterHints } from "./filter_chips.tsx";
import { Icon } from "./icons.tsx";
import {
  addDays,
  automaticInterval,
  comparedSegment,
  type Dates,
  RANGE_PRESETS,
  type RangePreset,
  readInterval,
} from "./location_query.ts";
import {
  bots,
  compare,
  currentDates,
  effectiveTimezone,
  go,
  interval,
  range,
} from "./location_state.ts";
import { dateSpan } from "./number_format.ts";
import { OptionsDialog } from "./options_dialog.tsx";
import { RangeDialog } from "./range_dialog.tsx";
import { type Segment, SegmentControl, useSegments } from "./segment_control.tsx";
import { SHARE_ID } from "./share.ts";
import type { Control } from "./views.ts";

const CUSTOM = "custom";
const DAY_MS = 86_400_000;
/** A series has 2,000 buckets at most. */
const DAYS_BY_HOUR_MAX = 80;
const DAYS_BY_DAY_MAX = 1_990;

const PRESET_LABELS: Readonly<Record<RangePreset, string>> = {
  "today": "Today",
  "yesterday": "Yesterday",
  "7d": "Last 7 days",
  "30d": "Last 30 days",
  "90d": "Last 90 days",
  "month": "This month",
  "last_month": "Last month",
  "12m": "Last 12 months",
};

function RangeControl() {
  const [isOpen, setOpen] = useState(false);
  const choice = range.value;
  const dates = currentDates();
  const span = dateSpan(dates.from, dates.to);
  const custom = { value: CUSTOM, label: "preset" in choice ? "Custom…" : span };
  // The chosen entry alone would not open the dialog again.
  const again = "preset" in choice ? [] : [{ value: "again", label: "Change dates…" }];
  const presets = RANGE_PRESETS.map((value) => ({ value, label: PRESET_LABELS[value] }));
  return (
    <>
      <SelectField
        label="Range"
        isLabelHidden
        value={"preset" in choice ? choice.preset : CUSTOM}
        choices={[...presets, custom, ...again]}
        onChange={(value) => {
          const preset = RANGE_PRESETS.find((each) => each === value);
          if (preset === undefined) setOpen(true);
          else go({ range: { preset } });
        }}
      />
      {"preset" in choice && <span class="bar-dates">{span}</span>}
      {isOpen && (
        <RangeDialog
          title="Custom range"
          dates={dates}
          onSave={(chosen) => go({ range: chosen })}
          onClose={() => setOpen(false)}
        />
      )}
    </>
  );
}

const COMPARE_CHOICES: readonly Choice[] = [
  { value: "previous", label: "vs. previous period" },
  { value: "year", label: "vs. year before" },
  { value: "none", label: "No comparison" },
];

function comparedDates(text: string, { from, to }: Dates): Dates {
  if (text.startsWith("{")) return JSON.parse(text);
  const days = (Date.parse(to) - Date.parse(from)) / DAY_MS + 1;
  return { from: addDays(from, -days), to: addDays(from, -1) };
}

function CompareControl({ segments }: { segments: readonly Segment[] }) {
  const [isOpen, setOpen] = useState(false);
  const text = compare.value;
  const isCustom = text.startsWith("{");
  const chosen = comparedDates(text, currentDates());
  const custom = {
    value: CUSTOM,
    label: isCustom ? `vs. ${dateSpan(chosen.from, chosen.to)}` : "vs. custom range…",
  };
  const again = isCustom ? [{ value: "again", label: "Change dates…" }] : [];
  return (
    <>
      <SelectField
        label="Comparison"
        isLabelHidden
        value={isCustom ? CUSTOM : text}
        choices={[...COMPARE_CHOICES, custom, ...again, ...comparedChoices(segments)]}
        onChange={(value) =>
          value === CUSTOM || value === "again" ? setOpen(true) : go({ compare: value })}
      />
      {isOpen && (
        <RangeDialog
          title="Compare with"
          dates={chosen}
          onSave={(dates) => go({ compare: JSON.stringify(dates) })}
          onClose={() => setOpen(false)}
        />
      )}
    </>
  );
}

function IntervalControl() {
  const dates = currentDates();
  const days = (Date.parse(dates.to) - Date.parse(dates.from)) / DAY_MS + 1;
  const choices = [
    { value: "", label: `By ${automaticInterval(dates)} (automatic)` },
    ...days <= DAYS_BY_HOUR_MAX ? [{ value: "hour", label: "By hour" }] : [],
    ...days <= DAYS_BY_DAY_MAX ? [{ value: "day", label: "By day" }] : [],
    { value: "week", label: "By week" },
    { value: "month", label: "By month" },
  ];
  return (
    <SelectField
      label="Interval"
      isLabelHidden
      value={interval.value ?? ""}
      choices={choices}
      onChange={(value) => go({ interval: readInterval(value) })}
    />
  );
}

const BOT_WORDS = { exclude: "", include: " · with bots", only: " · only bots" };

function OptionsControl() {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <button type="button" class="button" onClick={() => setOpen(true)}>
        <Icon name="settings" />
        <span class="bar-zone">{effectiveTimezone.value}{BOT_WORDS[bots.value]}</span>
        <span class="visually-hidden">: change the time zone and what is done about bots</span>
      </button>
      {isOpen && <OptionsDialog onClose={() => setOpen(false)} />}
    </>
  );
}

/** Segments to compare with: where one that was deleted is chosen, it is told too. */
function comparedChoices(segments: readonly Segment[]): readonly Choice[] {
  const chosen = comparedSegment(compare.value);
  const isGone = chosen !== null && !segments.some(({ slug }) => slug === chosen);
  return [...segments, ...isGone ? [{ slug: chosen, title: chosen }] : []]
    .map(({ slug, title }) => ({
      value: `segment:${slug}`,
      label: `vs. ${title}`,
      group: "Segments",
    }));
}

/** What is looked at: range, comparison, interval, time zone and filters, as far as the view has use for them. */
export function ControlBar({ controls }: { controls: readonly Control[] }) {
  return controls.length === 0 ? null : <Bar controls={controls} />;
}

function Bar({ controls }: { controls: readonly Control[] }) {
  // A segment is of one project: what can be filtered, can be asked of one.
  const hasSegments = SHARE_ID === null && controls.includes("filters");
  const segments = useSegments();
  return (
    <div class="bar" role="group" aria-label="What is shown">
      <div class="bar-controls">
        {controls.includes("range") && <RangeControl />}
        {controls.includes("compare") && <CompareControl segments={segments} />}
        {controls.includes("interval") && <IntervalControl />}
        {hasSegments && <SegmentControl segments={segments} />}
        <OptionsControl />
        {controls.includes("filters") && <AddFilter />}
      </div>
      {controls.includes("filters") && <FilterChips />}
      {controls.includes("filters") && <FilterHints />}
    </div>
  );
}
