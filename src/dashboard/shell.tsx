/// <reference lib="dom" />
import { useEffect, useRef, useState } from "preact/hooks";
import { commandText } from "./command.ts";
import { ControlBar } from "./control_bar.tsx";
import { DiskWarning } from "./disk_warning.tsx";
import { Icon, Mark } from "./icons.tsx";
import { currentProject, go, hasSeveral, hrefFor, inProject, view } from "./location_state.ts";
import { EmptyNote } from "./panel.tsx";
import { PasskeyHint } from "./passkey_hint.tsx";
import { PendingNote } from "./pending.tsx";
import { hasMany, ProjectSearch } from "./project_search.tsx";
import { account, hasAccount, hasScope, session } from "./session.ts";
import { SignOutButton } from "./sign_out.tsx";
import { ThemeSwitch } from "./theme_switch.tsx";
import { UNOPENED, useViewFocus } from "./view_focus.ts";
import { ViewLink } from "./view_link.tsx";
import { FIRST_VIEW, SITES, type View, VIEWS } from "./views.ts";

function shownViews(): readonly View[] {
  return VIEWS.filter(({ scope, isOfAll }) =>
    (scope === undefined || hasScope(scope)) && (isOfAll !== true || hasSeveral.value)
  );
}

/** The view that the address names; default: a project's first one. */
function currentView(): View {
  return shownViews().find(({ id }) => id === view.value) ??
    VIEWS.find(({ id }) => id === FIRST_VIEW)!;
}

function NavLink({ id, title, icon, isCurrent }: View & { isCurrent: boolean }) {
  return (
    <ViewLink
      class="nav-link"
      to={{ view: id, params: { ...UNOPENED, section: null } }}
      isCurrent={isCurrent}
    >
      <Icon name={icon} size={18} /> {title}
    </ViewLink>
  );
}

const ALL_SITES = "All sites";

function chooseProject(id: string, { isOfAll }: View): void {
  if (id === "") return go({ view: SITES });
  go(inProject(id, isOfAll ? { view: FIRST_VIEW, params: { q: null, sort: null } } : {}));
}

function ProjectSwitcher({ shown }: { shown: View }) {
  const projects = session.value?.projects ?? [];
  const current = currentProject.value;
  if (current === null) return null;
  if (projects.length === 1) return <p class="project-name">{current.name}</p>;
  if (hasMany.value) {
    return (
      <ProjectSearch
        current={shown.isOfAll ? ALL_SITES : current.name}
        all={ALL_SITES}
        onChoose={(id) => chooseProject(id, shown)}
      />
    );
  }
  return (
    <label class="project-switch">
      <span class="visually-hidden">Project</span>
      <select
        class="input select"
        value={shown.isOfAll ? "" : current.id}
        onChange={(event) => chooseProject(event.currentTarget.value, shown)}
      >
        <option value="">{ALL_SITES}</option>
        {projects.map(({ id, name }) => <option key={id} value={id}>{name}</option>)}
      </select>
    </label>
  );
}

/** Who is signed in, as a link to their account's settings. */
function WhoLink() {
  const who = account.value;
  if (who === null) return null;
  return (
    <ViewLink class="nav-link who" to={{ view: "settings", params: { section: "account" } }}>
      <Icon name="person" size={18} />
      <span class="visually-hidden">Signed in as</span>{" "}
      <span class="who-name" title={who.email}>{who.name}</span>
    </ViewLink>
  );
}

function SideBar({ current }: { current: View }) {
  const [isOpen, setOpen] = useState(false);
  const toggle = useRef<HTMLButtonElement>(null);
  useEffect(() => setOpen(false), [current.id]);
  return (
    <header
      class="side"
      onKeyDown={({ key }) => {
        if (!isOpen || key !== "Escape") return;
        toggle.current?.focus();
        setOpen(false);
      }}
      // On a phone it would cover what gets the focus.
      onFocusOut={({ currentTarget, relatedTarget }) => {
        if (relatedTarget instanceof Node && !currentTarget.contains(relatedTarget)) setOpen(false);
      }}
    >
      <div class="side-head">
        <a class="brand" href={hrefFor({ view: hasSeveral.value ? SITES : FIRST_VIEW })}>
          <Mark /> <span>Footfall</span>
        </a>
        <ProjectSwitcher shown={current} />
        <button
          ref={toggle}
          type="button"
          class="button button-icon side-toggle"
          aria-expanded={isOpen}
          aria-controls="side-menu"
          aria-label="Menu"
          onClick={() => setOpen(!isOpen)}
        >
          <Icon name={isOpen ? "close" : "menu"} size={18} />
        </button>
      </div>
      <div id="side-menu" class={isOpen ? "side-menu side-menu-open" : "side-menu"}>
        {/* The view that is shown is chosen, too, by who wants to see the whole of it. */}
        <nav class="nav" aria-label="Views" onClick={() => setOpen(false)}>
          {shownViews().map((each) => (
            <NavLink key={each.id} {...each} isCurrent={each.id === current.id} />
          ))}
        </nav>
        <div class="side-foot">
          <WhoLink />
          <ThemeSwitch />
          <SignOutButton class="button button-quiet" />
        </div>
      </div>
    </header>
  );
}

/** Says that there is no project that the person may see, or not the one that the address names. */
function NoProject() {
  const first = session.value?.projects[0];
  return (
    <EmptyNote title="There is no project to show">
      {first !== undefined
        ? (
          <>
            <p>You may not see the project of this address, or it is gone.</p>
            <ViewLink
              class="button"
              to={hasSeveral.value ? { view: SITES, project: null } : inProject(first.id)}
            >
              {hasSeveral.value ? "All sites" : first.name}
            </ViewLink>
          </>
        )
        : hasAccount.value
        ? "Your account may see no project. Ask an owner to let you into one."
        : `Your token may read no project. Make another: ${commandText("token --link")}`}
    </EmptyNote>
  );
}

/** The frame of every view: navigation, control bar, and the view itself. */
export function Shell() {
  const current = currentView();
  const heading = useViewFocus(current, current.isOfAll ? undefined : currentProject.value?.name);
  const Content = current.component;
  const hasProject = currentProject.value !== null;
  return (
    <div class="shell">
      <a class="skip" href="#main">Skip to the content</a>
      <SideBar current={current} />
      <main id="main" class="main" tabIndex={-1}>
        <div class="main-head">
          <h1 ref={heading} tabIndex={-1} class="view-title">{current.title}</h1>
          <PendingNote />
          {hasProject && <ControlBar controls={current.controls} />}
        </div>
        <DiskWarning />
        <PasskeyHint />
        {hasProject || current.isOfAll || current.id === "settings"
          ? <Content key={`${current.id} ${currentProject.value?.id}`} />
          : <NoProject />}
      </main>
    </div>
  );
}
