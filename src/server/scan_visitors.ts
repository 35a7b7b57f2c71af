import { ASKED_ACTORS } from "../scans/asked_actors.ts";
import { CROSSING } from "../scans/crossing_visitor.ts";
import { DONE_COUNTS } from "../scans/done_visitor.ts";
import { PATH_COUNTS } from "../scans/path_visitor.ts";
import { SESSION_BITS } from "../scans/session_bits.ts";
import { SESSION_ID_WRITER } from "../scans/session_id_writer.ts";
import { VALUE_COUNTS } from "../scans/value_visitor.ts";
import type { AnyVisitorKind } from "../scans/visitor.ts";
import { ACQUISITION_COUNTS } from "../reports/acquisition/acquisition_visitor.ts";
import { NEWEST } from "../reports/newest/newest_events.ts";
import { PASSING_IDS } from "../reports/events/passing_visitor.ts";
import { FUNNEL } from "../reports/funnels/funnel_visitor.ts";
import { CELL_EVENTS, CELL_PEOPLE } from "../reports/heatmaps/cell_visitor.ts";
import { INSIGHT_COUNTS, INSIGHT_EVENTS } from "../reports/insights/insight_visitor.ts";
import {
  JOURNEY_BEHIND,
  JOURNEY_LINKS,
  JOURNEY_NODES,
} from "../reports/journeys/journey_visitor.ts";
import { KPI_COUNTS } from "../reports/kpis/kpi_visitor.ts";
import { LIVE_COUNTS } from "../reports/live/live_visitor.ts";
import { MATCH_COUNTS } from "../reports/visitors/match_visitor.ts";
import { PAGE_COUNTS } from "../reports/pages/page_visitor.ts";
import { NEWEST_PEOPLE } from "../reports/newest/newest_people_visitor.ts";
import { COHORT_COUNTS } from "../reports/retention/cohort_visitor.ts";
import { PERSON_EVENTS } from "../reports/visits/person_events_visitor.ts";
import { TAIL_COUNTS } from "../reports/rollups/tail_visitor.ts";
import { NEWEST_VISITS } from "../reports/visits/newest_visits_visitor.ts";
import { WATCHED_COUNTS } from "../reports/visits/watched_visitor.ts";

/** All kinds of visitors that a worker can run. */
export const VISITORS: readonly AnyVisitorKind[] = [
  ACQUISITION_COUNTS,
  ASKED_ACTORS,
  CELL_EVENTS,
  CELL_PEOPLE,
  COHORT_COUNTS,
  CROSSING,
  DONE_COUNTS,
  FUNNEL,
  INSIGHT_COUNTS,
  INSIGHT_EVENTS,
  JOURNEY_BEHIND,
  JOURNEY_LINKS,
  JOURNEY_NODES,
  KPI_COUNTS,
  LIVE_COUNTS,
  MATCH_COUNTS,
  NEWEST,
  NEWEST_PEOPLE,
  NEWEST_VISITS,
  PAGE_COUNTS,
  PASSING_IDS,
  PATH_COUNTS,
  PERSON_EVENTS,
  SESSION_BITS,
  SESSION_ID_WRITER,
  TAIL_COUNTS,
  VALUE_COUNTS,
  WATCHED_COUNTS,
];
