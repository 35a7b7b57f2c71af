/// <reference lib="dom" />
import { useEffect, useRef, useState } from "preact/hooks";
import { commandText } from "./command.ts";
import { ControlBar } from "./control_bar.tsx";
import { DiskWarning } from "./disk_warning.tsx";
import { Icon, Mark } from "./icons.tsx";
import { currentProject, go, hrefFor, view } from "./location_state.ts";
import { EmptyNote } from "./panel.tsx";
import { PendingNote } from "./pending.tsx";
import { hasScope, session, signOut } from "./session.ts";
import { type Theme, theme } from "./theme.ts";
import { type View, VIEWS } from "./views.ts";

function shownViews(): readonly View[] {
  return VIEWS.filter(({ scope }) => scope === undefined || hasScope(scope));
}

/** The view that the address names, else the first. */
function currentView(): View {
  return shownViews().find(({ id }) => id === view.value) ?? VIEWS[0]!;
}

function NavLink({ id, title, icon, isCurrent }: View & { isCurrent: boolean }) {
  return (
    <a
      class="nav-link"
      href={hrefFor({ view: id })}
      aria-current={isCurrent ? "page" : undefined}
      onClick={(event) => {
        // Another tab is the browser's business.
        if (event.metaKey || event.ctrlKey || event.shiftKey || event.button !== 0) return;
        event.preventDefault();
        go({ view: id });
      }}
    >
      <Icon name={icon} size={18} /> {title}
    </a>
  );
}

function ProjectSwitcher() {
  const projects = session.value?.projects ?? [];
  const current = currentProject.value;
  if (current === null) return null;
  if (projects.length === 1) return <p class="project-name">{current.name}</p>;
  return (
    <label class="project-switch">
      <span class="visually-hidden">Project</span>
      <select
        class="input select"
        value={current.id}
        // Paths and properties of one project are not those of another.
        onChange={(event) => go({ project: event.currentTarget.value, filters: [] })}
      >
        {projects.map(({ id, name }) => <option key={id} value={id}>{name}</option>)}
      </select>
    </label>
  );
}

const THEMES: readonly { value: Theme; label: string; icon: "screen" | "sun" | "moon" }[] = [
  { value: "system", label: "System colours", icon: "screen" },
  { value: "light", label: "Light", icon: "sun" },
  { value: "dark", label: "Dark", icon: "moon" },
];

function ThemeSwitch() {
  return (
    <div class="segments" role="group" aria-label="Colours">
      {THEMES.map(({ value, label, icon }) => (
        <button
          key={value}
          type="button"
          class="segment"
          aria-label={label}
          aria-pressed={theme.value === value}
          title={label}
          onClick={() => theme.value = value}
        >
          <Icon name={icon} />
        </button>
      ))}
    </div>
  );
}

function SideBar({ current }: { current: View }) {
  const [isOpen, setOpen] = useState(false);
  useEffect(() => setOpen(false), [current.id]);
  return (
    <header class="side">
      <div class="side-head">
        <a class="brand" href={hrefFor({ view: "overview" })}>
          <Mark /> <span>Footfall</span>
        </a>
        <ProjectSwitcher />
        <button
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
        <nav class="nav" aria-label="Views">
          {shownViews().map((each) => (
            <NavLink key={each.id} {...each} isCurrent={each.id === current.id} />
          ))}
        </nav>
        <div class="side-foot">
          <ThemeSwitch />
          <button type="button" class="button button-quiet" onClick={() => signOut()}>
            <Icon name="leave" /> Sign out
          </button>
        </div>
      </div>
    </header>
  );
}

/** A new view is announced, and reading goes on at its title. */
function useViewFocus(current: View) {
  const heading = useRef<HTMLHeadingElement>(null);
  const isFirst = useRef(true);
  useEffect(() => {
    if (!isFirst.current) heading.current?.focus({ preventScroll: true });
    if (!isFirst.current) scrollTo({ top: 0 });
    isFirst.current = false;
  }, [current.id]);
  const projectName = currentProject.value?.name;
  useEffect(() => {
    document.title = [current.title, projectName, "Footfall"].filter(Boolean).join(" · ");
  }, [current.id, projectName]);
  return heading;
}

/** The frame of every view: navigation, the bar, and the view itself. */
export function Shell() {
  const current = currentView();
  const heading = useViewFocus(current);
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
        {hasProject || current.id === "settings"
          ? <Content key={`${current.id} ${currentProject.value?.id}`} />
          : (
            <EmptyNote title="There is no project to show">
              Your token may read no project. Make another: {commandText("token --link")}
            </EmptyNote>
          )}
      </main>
    </div>
  );
}
