import type { output } from "zod";
import type { ShareShown } from "../../shares/shares.ts";
import type { Filter } from "../location_query.ts";

export type Share = output<typeof ShareShown>;

export interface SharesReply {
  readonly shares: readonly Share[];
}

/** What is done about the password: it stays, there is none, or it is the one that is typed. */
export type PasswordChoice = "keep" | "none" | "new";

/** A share as the form has it. */
export interface ShareForm {
  readonly title: string;
  readonly views: readonly string[];
  readonly filters: readonly Filter[];
  /** A local date, the last day on which it shows anything; empty: it does not expire. */
  readonly lastDay: string;
  readonly passwordChoice: PasswordChoice;
  readonly password: string;
  /** One a line. */
  readonly origins: string;
  readonly minimumVisitors: string;
}

export const NEW_SHARE: ShareForm = {
  title: "",
  views: ["overview"],
  filters: [],
  lastDay: "",
  passwordChoice: "none",
  password: "",
  origins: "",
  minimumVisitors: "3",
};

const twoDigits = (n: number) => String(n).padStart(2, "0");

function dayOf(instant: string): string {
  // The instant at which it ends is no longer part of its last day.
  const day = new Date(Date.parse(instant) - 1);
  return `${day.getFullYear()}-${twoDigits(day.getMonth() + 1)}-${twoDigits(day.getDate())}`;
}

/** A stored share as the form has it. */
export function formOf(share: Share): ShareForm {
  return {
    title: share.title,
    views: share.views,
    filters: share.filters,
    lastDay: share.expiresAt === null ? "" : dayOf(share.expiresAt),
    passwordChoice: share.hasPassword ? "keep" : "none",
    password: "",
    origins: share.embedOrigins.join("\n"),
    minimumVisitors: String(share.minimumVisitors),
  };
}

/** The end of a day in this browser's time zone. */
function endOf(day: string): string {
  const [year, month, date] = day.split("-").map(Number) as [number, number, number];
  return new Date(year, month - 1, date + 1).toISOString();
}

/** The form as the API takes it; `before`: the share that it changes, whose end may stay to the second. */
export function bodyOf(form: ShareForm, before: Share | null): Record<string, unknown> {
  const { title, views, filters, lastDay, passwordChoice, password, origins } = form;
  const isSameEnd = before?.expiresAt != null && dayOf(before.expiresAt) === lastDay;
  const end = lastDay === "" ? null : endOf(lastDay);
  return {
    title,
    views,
    // A filter without a value is sent to be refused: without it the share would show everything.
    filters,
    expiresAt: isSameEnd ? before.expiresAt : end,
    ...passwordChoice === "keep" ? {} : { password: passwordChoice === "none" ? null : password },
    embedOrigins: origins.split(/[\s,]+/).filter((origin) => origin !== ""),
    minimumVisitors: Number(form.minimumVisitors),
  };
}

/** An attribute's value in HTML. */
function attribute(text: string): string {
  return text.replace(/[&"<>]/g, (character) => `&#${character.charCodeAt(0)};`);
}

/** The HTML that embeds the share in another page. */
export function embedSnippet({ url, title }: Pick<Share, "url" | "title">): string {
  return `<iframe
  src="${attribute(url)}"
  title="${attribute(title)}"
  style="width: 100%; height: 900px; border: 0; color-scheme: light dark"
  loading="lazy"
></iframe>`;
}
