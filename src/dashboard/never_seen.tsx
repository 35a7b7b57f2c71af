/// <reference lib="dom" />
import type { output } from "zod";
import type { Warning } from "../query/warnings.ts";
import { fieldLabel, valueLabel } from "./filter_fields.ts";
import { Icon } from "./icons.tsx";
import { dateIn, type Filter } from "./location_query.ts";
import { effectiveTimezone } from "./location_state.ts";
import { useRead } from "./resource.ts";
import { SHARE_ID } from "./share.ts";

interface Warned {
  readonly query: { readonly warnings: readonly output<typeof Warning>[] };
}

interface NeverSeenValue {
  readonly field: string;
  readonly value: string;
  readonly suggestions: readonly string[];
}

/** Whether the filter's values can be checked: whole ones, not parts or patterns. */
function isCompared({ field, op, values }: Filter): boolean {
  return (op === "is" || op === "is_not") && values.length > 0 && field !== "properties.";
}

/** The API's warnings about filters, from the smallest read there is, of one day. */
function useWarnings(filters: readonly Filter[]): readonly NeverSeenValue[] {
  const compared = filters.filter(isCompared);
  const day = dateIn(effectiveTimezone.value, Date.now());
  // A share does not reveal which values there are.
  const path = compared.length === 0 || SHARE_ID !== null ? null : "/v1/trends";
  const { data } = useRead<Warned>(path, {
    filters: JSON.stringify(compared),
    from: day,
    to: day,
    interval: "day",
  });
  if (data === null) return [];
  return data.query.warnings.flatMap(({ code, field, value, suggestions = [] }) => {
    if (code !== "value_never_seen" || field === undefined || value === undefined) return [];
    const isAsked = compared.some((filter) =>
      filter.field === field && filter.values.map(String).includes(value)
    );
    return isAsked ? [{ field, value, suggestions }] : [];
  });
}

interface NeverSeenProps {
  readonly filters: readonly Filter[];
  /** Replaces a value in every filter on the field. */
  readonly onReplace: (field: string, value: string, by: string) => void;
}

const nameOf = (field: string) => field === "name" ? "event" : fieldLabel(field).toLowerCase();

/** Says which values of filters never occurred in the project, and suggests others. */
export function NeverSeen({ filters, onReplace }: NeverSeenProps) {
  const warnings = useWarnings(filters);
  return (
    <div role="status" class={warnings.length === 0 ? "visually-hidden" : "never-seen"}>
      {warnings.map(({ field, value, suggestions }) => (
        <p key={`${field} ${value}`} class="never-seen-line">
          <Icon name="insights" size={14} /> Nothing has the {nameOf(field)}{" "}
          <em>{valueLabel(field, value)}</em>. {suggestions.length > 0 && (
            <>
              Did you mean {suggestions.map((each, i) => (
                <span key={each}>
                  {i > 0 && " or "}
                  <button
                    type="button"
                    class="link-button"
                    onClick={() => onReplace(field, value, each)}
                  >
                    {valueLabel(field, each)}
                  </button>
                </span>
              ))}?
            </>
          )}
        </p>
      ))}
    </div>
  );
}

/** The filters with one value of a field replaced by another, without duplicates. */
export function withValueReplaced(
  filters: readonly Filter[],
  field: string,
  value: string,
  by: string,
): Filter[] {
  return filters.map((filter) => {
    if (filter.field !== field || !isCompared(filter)) return filter;
    const values = filter.values.map((each) => String(each) === value ? by : each);
    return { ...filter, values: [...new Set(values)] };
  });
}
