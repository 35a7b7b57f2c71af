/// <reference lib="dom" />
import { useEffect, useState } from "preact/hooks";
import { read } from "../api.ts";
import { filters, type Params, project, sharedParams } from "../location_state.ts";
import type { EventMatch } from "../match_editor.tsx";
import type { Kpis } from "../replies.ts";

interface TotalsReply {
  readonly totals: Pick<Kpis, "visitors" | "events">;
}

const NOTHING: readonly (number | null)[] = [];

/**
 * Each event's total over the range, if it does not follow from the buckets: visitors, or events per visitor.
 * Empty if it does, while it loads, and after a failure.
 * @param chart the reply that it is shown with: a new one reads it again; null: one is being read
 */
export function useRangeTotals(
  kind: string,
  events: readonly EventMatch[],
  chart: object | null,
): readonly (number | null)[] {
  const isAsked = kind === "visitors" || kind === "perVisitor";
  const asked: readonly Params[] = !isAsked ? [] : events.map(({ name, filters: own }) => {
    const named = name === null ? [] : [{ field: "name", op: "is", values: [name] }];
    const all = [...filters.value, ...named, ...own];
    return { ...sharedParams(), filters: all.length === 0 ? null : JSON.stringify(all) };
  });
  const key = JSON.stringify([project.value, kind, asked]);
  const [found, setFound] = useState({ key: "", totals: NOTHING });
  useEffect(() => {
    if (asked.length === 0 || chart === null) return;
    const abort = new AbortController();
    Promise.all(asked.map((params) => read<TotalsReply>("/v1/kpis", params, abort.signal)))
      .then((replies) => {
        const totals = replies.map(({ totals: { visitors, events } }) => {
          if (kind === "visitors") return visitors;
          return events === null || !visitors ? null : events / visitors;
        });
        setFound({ key, totals });
      }, () => {
        // The chart's own read shows such failures; the total stays unknown.
      });
    return () => abort.abort();
  }, [key, chart]);
  return found.key === key ? found.totals : NOTHING;
}
