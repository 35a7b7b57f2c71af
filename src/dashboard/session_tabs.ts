/// <reference lib="dom" />
import { BASE_PATH } from "./base_path.ts";

/** What the tabs of one browser tell each other: they share the session. */
export type TabNews = "signed-in" | "signed-out";

let channel: BroadcastChannel | null = null;

/** Hears what happens in other tabs. Called once. */
export function followTabs(onNews: (news: TabNews) => void): void {
  channel = new BroadcastChannel(`footfall${BASE_PATH}`);
  channel.addEventListener("message", ({ data }) => onNews(data));
}

/** Tells the other tabs. */
export function tellTabs(news: TabNews): void {
  channel?.postMessage(news);
}
