/// <reference lib="dom" />
import { useState } from "preact/hooks";
import { OTHER } from "../filter_fields.ts";
import { currentDates, timezone, viewParam } from "../location_state.ts";
import { type Resource, useRead } from "../resource.ts";
import {
  DEFAULTS,
  type FunnelDefinition,
  plain,
  readDefinition,
  type SavedFunnel,
} from "./funnels_definition.ts";

/** The SDK sends these on every page: a new funnel is not made of them. */
const PASSING: readonly string[] = ["click", "scroll"];
const START_STEPS = 4;

interface SavedReply {
  readonly funnels: readonly SavedFunnel[];
}

interface NamesReply {
  readonly series: readonly { readonly value?: string | null }[];
}

export interface FunnelSource {
  readonly list: Resource<SavedReply>;
  readonly funnels: readonly SavedFunnel[];
  /** The saved funnel that is chosen; null: an unsaved one. */
  readonly saved: SavedFunnel | null;
  /** The definition to run; null: not known yet, or there are no events to make one of. */
  readonly definition: FunnelDefinition | null;
  /** A new funnel of the project's own events; null: there are none. */
  readonly fresh: FunnelDefinition | null;
  /** The read of the event names that a new funnel is made of. */
  readonly names: Resource<unknown>;
  /** The address names a saved funnel that does not exist. */
  readonly isGone: boolean;
  /** To call after saving or deleting: reloads the list, from which a deleted funnel disappears at once. */
  readonly changed: (slug: string, isDeleted?: boolean) => void;
}

/** The most frequent events of the range, one step each. */
function freshFunnel(data: NamesReply | null): FunnelDefinition | null {
  const names =
    data?.series.flatMap(({ value }) =>
      value && value !== OTHER && !PASSING.includes(value) ? [value] : []
    ) ?? [];
  const steps = names.slice(0, START_STEPS).map((name) => ({ name, filters: [] }));
  return steps.length === 0 ? null : plain({ ...DEFAULTS, steps });
}

/** The funnel of the address: its own steps, else a saved one by name, the first saved one, or a new one. */
export function useFunnelSource(): FunnelSource {
  const list = useRead<SavedReply>("/v1/funnels");
  const [deleted, setDeleted] = useState<readonly string[]>([]);
  const funnels = list.data?.funnels.filter((each) => !deleted.includes(each.slug)) ?? [];
  const slug = viewParam("funnel");
  const written = readDefinition(viewParam);
  const named = funnels.find((each) => each.slug === slug) ?? null;
  const saved = named ?? (slug === null && written === null ? funnels[0] ?? null : null);
  const names = useRead<NamesReply>("/v1/trends", {
    ...currentDates(),
    timezone: timezone.value,
    interval: "month",
    by: "name",
  });
  const fresh = freshFunnel(names.data);
  const isListed = list.state !== "loading" || list.data !== null;
  const start = isListed ? fresh : null;
  return {
    list,
    funnels,
    saved,
    definition: written ?? (saved === null ? start : plain(saved)),
    fresh,
    names,
    isGone: list.data !== null && slug !== null && named === null && written === null,
    changed(of, isDeleted = false) {
      setDeleted((before) => [...before.filter((each) => each !== of), ...isDeleted ? [of] : []]);
      list.reload();
    },
  };
}
