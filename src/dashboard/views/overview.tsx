/// <reference lib="dom" />
import { fieldTabs } from "../breakdown.tsx";
import { DEFINITIONS } from "../definitions.ts";
import { type Live, useLive } from "../live_stream.ts";
import { comparedParams } from "../location_state.ts";
import type { KpisReply } from "../replies.ts";
import { useRead } from "../resource.ts";
import { SHARE_ID, showsView } from "../share.ts";
import { SplitPanel } from "./overview_acquisition.tsx";
import { ChosenGoal, GoalsPanel } from "./overview_goals.tsx";
import { KeyFigures } from "./overview_kpis.tsx";
import { LiveLine, LivePanel } from "./overview_live.tsx";
import { PagesPanel } from "./overview_pages.tsx";
import { useStart } from "./overview_start.tsx";

const SOURCES = fieldTabs(
  ...["channel", "source", "referrer", "medium", "campaign", "term", "content"],
);
const PLACES = fieldTabs("country", "region", "city");
const DEVICES = fieldTabs("device", "browser", "os");

/** Sources, pages, places and devices of visits; goals; and who is there now. */
function Panels({ live }: { live: Live | null }) {
  return (
    <>
      <ChosenGoal />
      <div class="view-grid">
        <SplitPanel
          title="Sources"
          definition={DEFINITIONS.acquisition}
          param="sources"
          tabs={SOURCES}
        />
        <PagesPanel />
        <SplitPanel
          title="Places"
          definition={DEFINITIONS.places}
          param="places"
          tabs={PLACES}
        />
        <SplitPanel
          title="Devices"
          definition={DEFINITIONS.devices}
          param="devices"
          tabs={DEVICES}
        />
        {showsView("goals") && <GoalsPanel />}
        {live !== null && <LivePanel live={live} />}
      </div>
    </>
  );
}

/** The overview of a share: all but who is there now. */
function SharedOverview() {
  const kpis = useRead<KpisReply>("/v1/kpis", comparedParams(), { isFirst: true });
  return (
    <>
      <KeyFigures kpis={kpis} />
      <Panels live={null} />
    </>
  );
}

function OwnOverview() {
  const kpis = useRead<KpisReply>("/v1/kpis", comparedParams(), { isFirst: true });
  const live = useLive();
  const { welcome, hint } = useStart(kpis);
  if (welcome !== null) return welcome;
  return (
    <>
      <LiveLine live={live} />
      {hint}
      <KeyFigures kpis={kpis} />
      <Panels live={live} />
    </>
  );
}

/** All that matters at a glance: figures, sources, pages, places, devices, goals, and who is there. */
export function OverviewView() {
  return SHARE_ID === null ? <OwnOverview /> : <SharedOverview />;
}
