/// <reference lib="dom" />
import { render } from "preact";
import { useEffect, useState } from "preact/hooks";
import { LinkPage } from "./link_page.tsx";
import { followHistory } from "./location_state.ts";
import { followLinks, openedLink } from "./opened_link.ts";
import { takeProviderOutcome } from "./provider_outcome.ts";
import { followReturns } from "./resource.ts";
import {
  hearTab,
  isAwaited,
  outage,
  resumeSession,
  session,
  signedOutMessage,
  stayNumber,
  tellPerson,
} from "./session.ts";
import { followTabs } from "./session_tabs.ts";
import { Shell } from "./shell.tsx";
import { SHARE_ID } from "./share.ts";
import { SharePage } from "./share_page.tsx";
import { Outage, SignIn, SignInAbove } from "./sign_in.tsx";
import { followTheme } from "./theme.ts";

signedOutMessage.value = takeProviderOutcome();
// Who comes back from the identity provider has begun a session that no tab knows of.
const resuming = resumeSession().then(tellPerson);

function App() {
  const [isReady, setReady] = useState(false);
  useEffect(() => {
    resuming.then(() => setReady(true));
  }, []);
  if (openedLink.value !== null) {
    return <LinkPage key={openedLink.value.secret} link={openedLink.value} />;
  }
  if (!isReady && SHARE_ID !== null) return <p class="visually-hidden" role="status">Opening</p>;
  if (SHARE_ID !== null) return <SharePage />;
  if (!isReady) return <p class="visually-hidden" role="status">Signing in</p>;
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
followReturns();
followLinks();
// Who signs in or out elsewhere has no part in what is shared.
if (SHARE_ID === null) followTabs(hearTab);
// A link opened in this very tab changes nothing but the fragment.
addEventListener("hashchange", () => {
  if (location.hash.startsWith("#token=")) void resumeSession();
});

render(<App />, document.getElementById("app")!);
