import { ACQUISITION_BEHIND } from "../reports/acquisition/acquisition_behind.ts";
import type { NumberedRead } from "../reports/behind.ts";
import { FUNNEL_PEOPLE } from "../reports/funnels/funnel_people.ts";
import { JOURNEY_BEHIND_NODES } from "../reports/journeys/journey_behind.ts";
import type { Report } from "../reports/report.ts";
import { COHORT_PEOPLE } from "../reports/retention/cohort_people.ts";
import { createPeople } from "../reports/visits/people.ts";
import { createVisits } from "../reports/visits/visits.ts";

/** The reads whose numbers can be asked for one by one. */
const NUMBERED: readonly NumberedRead[] = [
  ACQUISITION_BEHIND,
  COHORT_PEOPLE,
  FUNNEL_PEOPLE,
  JOURNEY_BEHIND_NODES,
];

export const VISITS: Report = createVisits(NUMBERED);
export const PEOPLE: Report = createPeople(NUMBERED);
