/// <reference lib="dom" />
import { render } from "preact";
import { useEffect, useState } from "preact/hooks";
import { LinkPage } from "./link_page.tsx";
import { followHistory } from "./location_state.ts";
import { followLinks, openedLink } from "./opened_link.ts";
import { takeProviderOutcome } from "./provider_outcome.ts";
import { reloadOnReturn } from "./resource.ts";
import {
  announcePerson,
  followOtherTab,
  isAwaited,
  outage,
  resumeSession,
  session,
  signedOutMessage,
  stayNumber,
} from "./session.ts";
import { followTabs } from "./session_tabs.ts";
import { Shell } from "./shell.tsx";
import { SHARE_ID } from "./share.ts";
import { SharePage } from "./share_page.tsx";
import { Outage, SignIn, SignInAbove } from "./sign_in.tsx";
import { followTheme } from "./theme.ts";

signedOutMessage.value = takeProviderOutcome();
// A return from the identity provider began a session that no other tab knows of.
const resuming = resumeSession().then(announcePerson);

/** What the page shows from its beginning on (`dashboard_endpoints.ts`) until it is known who is signed in. */
function Opening() {
  return (
    <div class="opening">
      <p role="status">Opening the dashboard</p>
      <p class="opening-late">This takes long. Check the connection, then reload the page.</p>
    </div>
  );
}

function App() {
  const [isReady, setReady] = useState(false);
  useEffect(() => {
    resuming.then(() => setReady(true));
  }, []);
  if (openedLink.value !== null) {
    return <LinkPage key={openedLink.value.secret} link={openedLink.value} />;
  }
  if (!isReady) return <Opening />;
  if (SHARE_ID !== null) return <SharePage />;
  if (session.value === null) return outage.value === null ? <SignIn /> : <Outage />;
  return (
    <>
      {isAwaited.value && <SignInAbove />}
      <Shell key={stayNumber.value} />
    </>
  );
}

followTheme();
followHistory();
reloadOnReturn();
followLinks();
// Signing in or out in other tabs does not concern a share.
if (SHARE_ID === null) followTabs(followOtherTab);
// A link opened in this tab changes only the fragment, and does not load the page.
addEventListener("hashchange", () => {
  if (location.hash.startsWith("#token=")) void resumeSession();
});

const root = document.getElementById("app")!;
// Rendering takes over what the page began with where it begins with the same, and else leaves it beside the rest.
if (openedLink.peek() !== null) root.replaceChildren();
render(<App />, root);
