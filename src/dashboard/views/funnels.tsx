/// <reference lib="dom" />
import { useEffect, useRef } from "preact/hooks";
import { Button } from "../button.tsx";
import { comparison, sharedParams, viewParam } from "../location_state.ts";
import { percent } from "../number_format.ts";
import { EmptyNote, ErrorNote, Panel } from "../panel.tsx";
import { type Resource, useRead } from "../resource.ts";
import { SHARE_ID } from "../share.ts";
import { FunnelBuilder } from "./funnels_builder.tsx";
import {
  definitionParams,
  type FunnelDefinition,
  isSame,
  type SavedFunnel,
} from "./funnels_definition.ts";
import { type Draft, showFunnel, useDraft } from "./funnels_draft.ts";
import { FunnelResult } from "./funnels_result.tsx";
import { type FunnelSource, useFunnelSource } from "./funnels_source.ts";
import { GroupPanel } from "./funnels_tables.tsx";
import { conversionOf, type FunnelReply } from "./funnels_words.ts";
import { SharedFunnels } from "./funnels_shared.tsx";

interface SavedListProps {
  readonly source: FunnelSource;
  readonly isEdited: boolean;
  readonly run: Resource<FunnelReply>;
}

/** The conversion of the chosen funnel, as it is shown below. */
function Latest({ run }: Pick<SavedListProps, "run">) {
  const { state, data } = run;
  if (data === null) return <span class="funnels-latest">{state === "error" ? "–" : "…"}</span>;
  return (
    <span class="funnels-latest">
      {percent(conversionOf(data))}
      <span class="visually-hidden">converted</span>
    </span>
  );
}

function SavedPill({ funnel, isChosen, isEdited, run }: {
  readonly funnel: SavedFunnel;
  readonly isChosen: boolean;
  readonly isEdited: boolean;
  readonly run: Resource<FunnelReply>;
}) {
  const item = useRef<HTMLLIElement>(null);
  useEffect(() => {
    if (isChosen) item.current?.scrollIntoView({ block: "nearest", inline: "center" });
  }, [isChosen]);
  return (
    <li ref={item}>
      <button
        type="button"
        class="funnels-pill"
        aria-current={isChosen ? "true" : undefined}
        onClick={() => showFunnel(null, funnel)}
      >
        <span class="funnels-pill-title">{funnel.title}</span>
        {isChosen && isEdited && <span class="funnels-edited">edited</span>}
        {isChosen && <Latest run={run} />}
      </button>
    </li>
  );
}

/** The saved funnels, the chosen one with its conversion. */
function SavedList({ source: { funnels, saved, fresh }, isEdited, run }: SavedListProps) {
  const nav = useRef<HTMLElement>(null);
  const begin = () => {
    // The button disappears: the list takes the focus.
    nav.current?.focus();
    showFunnel(fresh, null);
  };
  return (
    <nav ref={nav} tabIndex={-1} class="funnels-saved" aria-label="Saved funnels">
      <ul>
        {saved === null && (
          <li>
            <span class="funnels-pill" aria-current="true">
              <span class="funnels-pill-title">New funnel</span>
              <Latest run={run} />
            </span>
          </li>
        )}
        {funnels.map((funnel) => (
          <SavedPill
            key={funnel.slug}
            {...{ funnel, isEdited, run }}
            isChosen={funnel.slug === saved?.slug}
          />
        ))}
        {saved !== null && fresh !== null && (
          <li>
            <Button icon="plus" kind="quiet" onClick={begin}>New funnel</Button>
          </li>
        )}
      </ul>
    </nav>
  );
}

/** Takes the definition out of the address if it equals the saved funnel. */
function useShortAddress({ list, saved }: FunnelSource, shown: FunnelDefinition): void {
  const isSaved = saved !== null && viewParam("steps") !== null && isSame(shown, saved);
  useEffect(() => {
    if (isSaved && list.state === "ready") showFunnel(null, saved, { replace: true });
  }, [isSaved, list.state]);
}

/** The form and the result of one funnel. */
function Workbench({ source, shown }: { source: FunnelSource; shown: FunnelDefinition }) {
  const { saved, list } = source;
  const draft: Draft = useDraft(shown, saved);
  useShortAddress(source, shown);
  const run = useRead<FunnelReply>("/v1/funnels", {
    ...sharedParams(),
    ...comparison(),
    ...definitionParams(shown),
  });
  const isEdited = saved !== null && !isSame(draft.value, saved);
  return (
    <>
      {list.state === "error"
        ? <ErrorNote problem={list.problem} onRetry={list.reload} />
        : <SavedList {...{ source, isEdited, run }} />}
      {source.isGone && (
        <p class="banner" role="status">
          The saved funnel of this address does not exist any more. This is a new one.
        </p>
      )}
      <div class="funnels-grid">
        <FunnelBuilder {...{ source, draft }} />
        <div class="funnels-results">
          <FunnelResult title={saved?.title ?? "New funnel"} {...{ draft, run }} />
          <GroupPanel run={run} />
        </div>
      </div>
    </>
  );
}

/** Placeholders until it is known which funnel to show. */
function Waiting({ resource }: { resource: Resource<unknown> }) {
  return (
    <>
      <div class="funnels-saved funnels-saved-waiting" />
      <div class="funnels-grid">
        <Panel title="Steps" state={resource} skeletonRows={16} class="funnels-builder" />
        <Panel title="Funnel" state={resource} skeletonRows={14} class="funnels-result" />
      </div>
    </>
  );
}

/** Saved funnels, and the one that is being built. */
export function FunnelsView() {
  return SHARE_ID === null ? <OwnFunnels /> : <SharedFunnels />;
}

function OwnFunnels() {
  const source = useFunnelSource();
  const { definition, names, list } = source;
  if (definition !== null) return <Workbench source={source} shown={definition} />;
  const waited = list.data === null && list.state === "loading" ? list : names;
  if (waited.state === "loading") return <Waiting resource={waited} />;
  return (
    <Panel
      title="Funnel"
      state={waited}
      empty={
        <EmptyNote title="No events in this range" icon="funnels">
          A funnel shows how many people go on from one event to the next. Choose a longer range, or
          come back when the first events are in.
        </EmptyNote>
      }
    />
  );
}
