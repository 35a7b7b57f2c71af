/// <reference lib="dom" />
import { Button } from "../button.tsx";
import { useState } from "preact/hooks";
import { apiUrl } from "../api.ts";
import { Definition } from "../definition.tsx";
import { Icon } from "../icons.tsx";
import { Change } from "../kpi_tile.tsx";
import { effectiveTimezone } from "../location_state.ts";
import { localTime } from "../note_times.ts";
import { counted } from "../number_format.ts";
import { ViewLink } from "../view_link.tsx";
import { destinationOf, peopleOf, readAddress } from "./insights_destination.ts";
import { Spark } from "./insights_spark.tsx";
import {
  certainty,
  certaintyText,
  type ChangeFound,
  contributionText,
  figureText,
  type Finding,
  isRate,
  weekdaysFigures,
  weekdaysText,
} from "./insights_words.ts";

const COPIED_MS = 2000;
const CONTRIBUTION =
  "How much of the change of the metric in total lies in this one value. It is more than the whole where other values moved the other way.";

/** Copies the read behind the finding, for scripts; without the token. */
function CopyRead({ drilldown }: { drilldown: string }) {
  const [state, setState] = useState<"idle" | "copied" | "refused">("idle");
  const { path, params } = readAddress(drilldown);
  const url = new URL(apiUrl(path, params), location.href).href;
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(url);
      setState("copied");
      setTimeout(() => setState("idle"), COPIED_MS);
    } catch {
      // Without https there is no clipboard: it is shown selected instead.
      setState("refused");
    }
  };
  if (state === "refused") {
    return (
      <input
        class="input insights-read"
        aria-label="API request"
        readOnly
        value={url}
        ref={(field) => field?.select()}
      />
    );
  }
  return (
    <Button icon={state === "copied" ? "check" : "copy"} kind="quiet" title={url} onClick={copy}>
      <span role="status">{state === "copied" ? "Copied" : "Copy API request"}</span>
    </Button>
  );
}

function ShowInOverview({ drilldown, metric, text }: ChangeFound) {
  const changes = destinationOf(drilldown, metric);
  if (changes === null) return null;
  return (
    <ViewLink class="button" to={changes} label={`Show in Overview: ${text}`}>
      <Icon name="expand" /> Show in Overview
    </ViewLink>
  );
}

/** A link to those whom the number counts, if there are any. */
function WhoAreThese({ drilldown, metric, current }: ChangeFound) {
  const to = peopleOf(drilldown, metric);
  if (to === null || current <= 0) return null;
  return (
    <ViewLink class="button button-quiet" to={to}>
      <Icon name="people" /> Who are these?
    </ViewLink>
  );
}

function Moved({ kind, metric, change, current, previous }: ChangeFound) {
  return (
    <>
      {kind === "new_value"
        ? (
          <span class="change change-good">
            <Icon name="up" size={12} /> New
          </span>
        )
        : kind === "vanished_value"
        ? (
          <span class="change change-bad">
            <Icon name="fall" size={12} /> Gone
          </span>
        )
        : (
          <Change
            value={isRate(metric) ? current - previous : change}
            isRate={isRate(metric)}
            isDownGood={metric === "bounceRate"}
          />
        )}
    </>
  );
}

function Direction({ finding }: { finding: Finding }) {
  const { metric, current, previous } = finding;
  return (
    <p class="insights-change">
      <Moved {...finding} />
      <span class="muted small">
        {figureText(metric, previous)} → {figureText(metric, current)}
      </span>
    </p>
  );
}

/** The other changes with the same cause, folded. */
function Evidence({ evidence }: Pick<Finding, "evidence">) {
  const [isOpen, setOpen] = useState(false);
  if (evidence.length === 0) return null;
  return (
    <details class="insights-evidence" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{counted(evidence.length, "other change")} with the same cause</summary>
      {isOpen && (
        <ul>
          {evidence.map((each) => (
            <li key={`${each.metric} ${each.goal} ${each.drilldown}`}>
              <span class="insights-evidence-change">
                <Moved {...each} />
              </span>
              <span>{each.text}</span>
              <ShowInOverview {...each} />
            </li>
          ))}
        </ul>
      )}
    </details>
  );
}

/** One change: how much, in a sentence, how sure, how much of the whole, and links to it. */
export function FindingView({ finding, tested }: { finding: Finding; tested: number }) {
  const { text, drilldown, metric, contribution, notes } = finding;
  const part = contributionText(finding);
  const share = Math.max(0, Math.min(1, contribution ?? 0));
  return (
    <li class="insights-finding">
      <Direction finding={finding} />
      <div class="insights-words stack">
        <p class="insights-text">{text}</p>
        <ul class="insights-facts">
          {part !== null && (
            <li>
              <span class="insights-bar" aria-hidden="true">
                <span class="insights-bar-part" style={{ width: `${100 * share}%` }} />
              </span>
              {part} <Definition of="the share of the change" text={CONTRIBUTION} />
            </li>
          )}
          <li>
            {certainty(finding)}{" "}
            <Definition of="the chance" text={certaintyText(finding, tested)} />
          </li>
          <li>
            {weekdaysText(finding)}{" "}
            <Definition of="the same weekdays" text={weekdaysFigures(finding)} />
          </li>
          {notes.slice(1).map(({ at, text }) => (
            <li key={`${at} ${text}`}>
              Noted as well, {localTime(at, effectiveTimezone.value).date}: {text}
            </li>
          ))}
        </ul>
        <div class="insights-actions">
          <ShowInOverview {...finding} />
          <WhoAreThese {...finding} />
          <CopyRead drilldown={drilldown} />
        </div>
        <Evidence evidence={finding.evidence} />
      </div>
      <Spark drilldown={drilldown} metric={metric} />
    </li>
  );
}
