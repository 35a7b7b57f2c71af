/** Saved segments as the API shows them. */
import type { output } from "zod";
import type * as definitions from "../reports/saved/segment_definitions.ts";

export type SavedSegment = output<typeof definitions.SegmentShown>;
export type ActorCondition = NonNullable<SavedSegment["actors"]>;
