import assert from "node:assert/strict";
import { parseArgs } from "node:util";
import fc from "fast-check";
import { patchProject, type Project } from "../../src/auth/projects.ts";
import type { EventRow } from "../../src/ingest/event_row.ts";
import { instantText, rangeOf } from "../reference/calendar.ts";
import type { GoalDefinition } from "../reference/goals.ts";
import {
  type RandomWorld,
  randomWorld,
  SITE_URLS,
  TIMEZONES,
} from "../reference/random_history.ts";
import { randomGoals, randomParams, READ_NAMES } from "../reference/random_params.ts";
import { type ParamsOf, type ReadName, runRead } from "../reference/reads.ts";
import type { World } from "../reference/world.ts";
import { onBothEngines } from "../support/databases.ts";
import { differenceOf, toldOf } from "./answers.ts";
import { type Answer, Store } from "./stored_world.ts";
