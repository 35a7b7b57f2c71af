/// <reference lib="dom" />
import { ControlBar } from "./control_bar.tsx";
import { Icon, Mark } from "./icons.tsx";
import { currentProject, view } from "./location_state.ts";
import { PendingNote } from "./pending.tsx";
import { isFramed, type SharedDashboard } from "./share.ts";
import { ThemeSwitch } from "./theme_switch.tsx";
import { UNOPENED, useViewFocus } from "./view_focus.ts";
import { ViewLink } from "./view_link.tsx";
import { type View, VIEWS } from "./views.ts";

/** The views that the share names, in its order. */
function viewsOf({ views }: SharedDashboard): readonly View[] {
  return views.flatMap((id) => VIEWS.find((each) => each.id === id) ?? []);
}

function Head({ share, views, current }: {
  readonly share: SharedDashboard;
  readonly views: readonly View[];
  readonly current: View;
}) {
  return (
    <header class="shared-head">
      <div class="shared-title">
        <Mark />
        <p>
          <strong>{share.title}</strong>
          <span class="muted">{share.project.name}</span>
        </p>
      </div>
      {views.length > 1 && (
        <nav class="shared-nav" aria-label="Views">
          {views.map(({ id, title, icon }) => (
            <ViewLink
              key={id}
              class="nav-link"
              to={{ view: id, params: UNOPENED }}
              isCurrent={id === current.id}
            >
              <Icon name={icon} size={18} /> {title}
            </ViewLink>
          ))}
        </nav>
      )}
      {/* In a frame the page beside it decides. */}
      {!isFramed && <ThemeSwitch />}
    </header>
  );
}

/** The frame of a shared dashboard. */
export function SharedShell({ share }: { share: SharedDashboard }) {
  const views = viewsOf(share);
  const current = views.find(({ id }) => id === view.value) ?? views[0]!;
  const heading = useViewFocus(current, share.title);
  const Content = current.component;
  return (
    <div class={isFramed ? "shared shared-framed" : "shared"}>
      <a class="skip" href="#main">Skip to the content</a>
      <Head {...{ share, views, current }} />
      <main id="main" class="main" tabIndex={-1}>
        <div class="main-head">
          <h1 ref={heading} tabIndex={-1} class="view-title">{current.title}</h1>
          <PendingNote />
          <ControlBar controls={current.controls} />
        </div>
        <Content key={`${current.id} ${currentProject.value?.id}`} />
        <p class="shared-foot muted small">
          {share.minimumVisitors === 1
            ? "Nobody is named here."
            : `Nobody is named here: what fewer than ${share.minimumVisitors} people did is counted with all others, or not shown at all.`}
        </p>
      </main>
    </div>
  );
}
