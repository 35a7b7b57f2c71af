/// <reference lib="dom" />
import type { ComponentChildren } from "preact";
import { Behind } from "../behind.tsx";
import type { HeatmapNumber } from "../behind_words.ts";
import { counted, percent } from "../number_format.ts";
import type { Device, Kind, Point } from "./heatmaps_replies.ts";

/** Which heat map is shown. */
export interface ShownMap {
  readonly page: string;
  /** `page` is a pattern for many pages. */
  readonly isPattern: boolean;
  readonly device: Device;
  readonly kind: Kind;
}

interface MapCountProps {
  readonly map: ShownMap;
  readonly place: HeatmapNumber["place"];
  /** What the number counts, in words. */
  readonly of: string;
  readonly count: number;
  /** False: it counts clicks or page views, not people. */
  readonly isTheirs?: boolean;
  readonly children: ComponentChildren;
}

/** A number of a heat map, linked to the people behind it. */
export function MapCount({ map, place, of, count, isTheirs = true, children }: MapCountProps) {
  const { page, isPattern, device, kind } = map;
  return (
    <Behind
      view="people"
      number={{ read: "heatmaps", [isPattern ? "pattern" : "path"]: page, device, kind, place }}
      of={of}
      isLinked={count > 0}
      isTheirs={isTheirs}
    >
      {children}
    </Behind>
  );
}

/** The point of the map that was selected last, linked to the people who clicked there. */
export function ChosenPoint({ map, point }: { map: ShownMap; point: Point | null }) {
  if (point === null) return null;
  const { x, y, fixed, count, visitors } = point;
  return (
    <p class="heatmaps-sample" role="status">
      {`${counted(count, "click")} ${percent(x, 0)} across and ${
        counted(Math.round(y), "pixel")
      } down, by `}
      <MapCount
        map={map}
        place={{ point: { x, y, fixed } }}
        of="People who clicked there"
        count={visitors}
      >
        {counted(visitors, "visitor")}
      </MapCount>
    </p>
  );
}
