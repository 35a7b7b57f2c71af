/// <reference lib="dom" />
import { DialogOpener } from "./dialog.tsx";
import { useState } from "preact/hooks";
import { type Choice, SelectField } from "./field.tsx";
import { AddFilter, FilterChips, FilterHints } from "./filter_chips.tsx";
import {
  addDays,
  automaticInterval,
  comparedSegment,
  type Dates,
  daysOf,
  intervalIn,
  INTERVALS,
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

interface DatesProps {
  /** The range's dates. A preset's change with the day, and so does what is rendered. */
  readonly dates: Dates;
}

function RangeControl({ dates }: DatesProps) {
  const [isOpen, setOpen] = useState(false);
  const choice = range.value;
  const span = dateSpan(dates.from, dates.to);
  const custom = { value: CUSTOM, label: "preset" in choice ? "Custom…" : span };
  // Choosing the chosen entry again would not open the dialog.
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

function comparedDates(text: string, dates: Dates): Dates {
  if (text.startsWith("{")) return JSON.parse(text);
  const { from } = dates;
  return { from: addDays(from, -daysOf(dates)), to: addDays(from, -1) };
}

function CompareControl({ dates, segments }: DatesProps & { segments: readonly Segment[] }) {
  const [isOpen, setOpen] = useState(false);
  const text = compare.value;
  const isCustom = text.startsWith("{");
  const chosen = comparedDates(text, dates);
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

function IntervalControl({ dates }: DatesProps) {
  const choices = [
    { value: "", label: `By ${automaticInterval(dates)} (automatic)` },
    ...INTERVALS.filter((each) => intervalIn(dates, each) !== null)
      .map((value) => ({ value, label: `By ${value}` })),
  ];
  return (
    <SelectField
      label="Interval"
      isLabelHidden
      value={intervalIn(dates, interval.value) ?? ""}
      choices={choices}
      onChange={(value) => go({ interval: readInterval(value) })}
    />
  );
}

const BOT_WORDS = { exclude: "", include: " · with bots", only: " · only bots" };

function OptionsControl({ hasBots }: { hasBots: boolean }) {
  return (
    <DialogOpener
      icon="settings"
      dialog={(onClose) => <OptionsDialog hasBots={hasBots} onClose={onClose} />}
    >
      <span class="bar-zone">{effectiveTimezone.value}{hasBots && BOT_WORDS[bots.value]}</span>
      <span class="visually-hidden">
        : change the time zone{hasBots && " and what is done about bots"}
      </span>
    </DialogOpener>
  );
}

/** The segments to compare with, and the chosen one even if it was deleted. */
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

/** Range, comparison, interval, time zone and filters, as far as the view uses them. */
export function ControlBar({ controls }: { controls: readonly Control[] }) {
  return controls.length === 0 ? null : <Bar controls={controls} />;
}

function Bar({ controls }: { controls: readonly Control[] }) {
  const isFiltered = controls.includes("filters");
  const segments = useSegments();
  const dates = currentDates();
  return (
    <div class="bar" role="group" aria-label="What is shown">
      <div class="bar-controls">
        {controls.includes("range") && <RangeControl dates={dates} />}
        {controls.includes("compare") && <CompareControl dates={dates} segments={segments} />}
        {controls.includes("interval") && <IntervalControl dates={dates} />}
        {/* A segment is of one project: what can be filtered, can be asked of one. */}
        {SHARE_ID === null && isFiltered && <SegmentControl segments={segments} />}
        <OptionsControl hasBots={isFiltered} />
        {isFiltered && <AddFilter />}
      </div>
      {isFiltered && <FilterChips />}
      {isFiltered && <FilterHints />}
    </div>
  );
}
