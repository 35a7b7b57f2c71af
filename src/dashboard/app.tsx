/// <reference lib="dom" />
import { render } from "preact";
import { useEffect, useState } from "preact/hooks";
import { followHistory } from "./location_state.ts";
import { followReturns } from "./resource.ts";
import { isSignedIn, resumeSession } from "./session.ts";
import { Shell } from "./shell.tsx";
import { SignIn } from "./sign_in.tsx";
import { followTheme } from "./theme.ts";

const resuming = resumeSession();

function App() {
  const [isReady, setReady] = useState(false);
  useEffect(() => {
    resuming.then(() => setReady(true));
  }, []);
  if (!isReady) return <p class="visually-hidden" role="status">Signing in</p>;
  return isSignedIn.value ? <Shell /> : <SignIn />;
}

followTheme();
followHistory();
followReturns();
// A link opened in this very tab changes nothing but the fragment.
addEventListener("hashchange", () => void resumeIfLink());

async function resumeIfLink(): Promise<void> {
  if (location.hash.startsWith("#token=")) await resumeSession();
}

render(<App />, document.getElementById("app")!);
