/// <reference lib="dom" />
import type { ComponentType } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { lazyView } from "../lazy_view.tsx";
import { viewParam } from "../location_state.ts";
import { hasAccount, hasScope } from "../session.ts";
import { ViewLink } from "../view_link.tsx";
import { AccountSection } from "./settings_account.tsx";
import { AuditSection } from "./settings_audit.tsx";
import { PeopleSection } from "./settings_people.tsx";
import { ProjectSection } from "./settings_project_section.tsx";
import { BrowserSection } from "./settings_session.tsx";
import { SharesSection } from "./settings_shares.tsx";
import { TokensSection } from "./settings_tokens.tsx";

interface Section {
  readonly id: string;
  /** Its id in addresses of earlier versions, such as bookmarks. */
  readonly earlierId?: string;
  readonly title: string;
  readonly component: ComponentType;
  /** Whether it is offered to whoever is signed in. */
  readonly isOffered: () => boolean;
}

/** The parts of the settings, in their order; the first one is shown by default. */
const SECTIONS: readonly Section[] = [
  { id: "project", title: "Project", component: ProjectSection, isOffered: () => true },
  {
    id: "sharing",
    title: "Sharing",
    component: SharesSection,
    isOffered: () => hasScope("admin"),
  },
  {
    id: "people",
    title: "People",
    component: PeopleSection,
    isOffered: () => hasScope("people"),
  },
  {
    id: "import",
    title: "Import",
    component: lazyView(async () => (await import("./settings_import.tsx")).ImportSection),
    isOffered: () => hasScope("admin"),
  },
  {
    id: "notifications",
    earlierId: "told",
    title: "Reports & alerts",
    component: lazyView(async () =>
      (await import("./settings_notifications.tsx")).NotificationsSection
    ),
    isOffered: () => hasScope("write"),
  },
  { id: "tokens", title: "API tokens", component: TokensSection, isOffered: () => true },
  { id: "audit", title: "Audit", component: AuditSection, isOffered: () => hasScope("people") },
  {
    id: "account",
    title: "This account",
    component: AccountSection,
    isOffered: () => hasAccount.value,
  },
  {
    id: "browser",
    title: "This browser",
    component: BrowserSection,
    isOffered: () => !hasAccount.value,
  },
];

/** The settings: of the project, of the people, and of whoever is signed in. */
export function SettingsView() {
  const sections = SECTIONS.filter(({ isOffered }) => isOffered());
  const asked = viewParam("section");
  const current = sections.find(({ id, earlierId }) => asked === id || asked === earlierId) ??
    sections[0]!;
  const Content = current.component;
  const nav = useRef<HTMLElement>(null);
  useEffect(() => {
    nav.current?.querySelector("[aria-current]")?.scrollIntoView({
      inline: "nearest",
      block: "nearest",
    });
  }, [current.id]);
  return (
    <>
      <nav ref={nav} class="settings-nav" aria-label="Settings">
        {sections.map(({ id, title }) => (
          <ViewLink
            key={id}
            class="settings-tab"
            to={{ view: "settings", params: { section: id === "project" ? null : id } }}
            isCurrent={id === current.id}
          >
            {title}
          </ViewLink>
        ))}
      </nav>
      <Content key={current.id} />
    </>
  );
}
