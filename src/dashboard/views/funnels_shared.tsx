/// <reference lib="dom" />
import { comparison, go, sharedParams, viewParam } from "../location_state.ts";
import { EmptyNote, Panel } from "../panel.tsx";
import { useRead } from "../resource.ts";
import type { SavedFunnel } from "./funnels_definition.ts";
import { FunnelPanel } from "./funnels_result.tsx";
import { GroupPanel } from "./funnels_tables.tsx";
import type { FunnelReply } from "./funnels_words.ts";

/** The result of a saved funnel. */
function Funnel({ slug, title }: SavedFunnel) {
  const run = useRead<FunnelReply>(`/v1/funnels/${slug}`, { ...sharedParams(), ...comparison() });
  return (
    <>
      <FunnelPanel title={title} name={slug} run={run} />
      <GroupPanel run={run} />
    </>
  );
}

/** The saved funnels of a share, in which none can be built. */
export function SharedFunnels() {
  const list = useRead<{ readonly funnels: readonly SavedFunnel[] }>("/v1/funnels");
  const funnels = list.data?.funnels ?? [];
  const chosen = funnels.find(({ slug }) => slug === viewParam("funnel")) ?? funnels[0];
  if (chosen === undefined) {
    return (
      <Panel
        title="Funnel"
        state={list}
        empty={list.data && <EmptyNote title="No funnels are saved" icon="funnels" />}
      />
    );
  }
  return (
    <>
      <nav class="funnels-saved" aria-label="Saved funnels">
        <ul>
          {funnels.map(({ slug, title }) => (
            <li key={slug}>
              <button
                type="button"
                class="funnels-pill"
                aria-current={slug === chosen.slug ? "true" : undefined}
                onClick={() => go({ params: { funnel: slug } })}
              >
                <span class="funnels-pill-title">{title}</span>
              </button>
            </li>
          ))}
        </ul>
      </nav>
      <Funnel key={chosen.slug} {...chosen} />
    </>
  );
}
