/** The share of the window from which what lies over it is a wall. */
export const WALL_SHARE_MIN = 0.5;

/** What stands on a page once it has settled, as a visitor without an account sees it. */
export interface PageContent {
  readonly title: string;
  /** Characters of text that a visitor sees, white space folded. */
  readonly textLength: number;
  /** The first of them, for what only words tell (soft 404, bot check, cookie wall). */
  readonly textStart: string;
  /** The first headings, in order. */
  readonly headings: readonly string[];
  /** Visible password fields. */
  readonly passwordFields: number;
  /** The share of the visible text outside the smallest part that holds password fields and their form: 0 a page that is a form alone. */
  readonly textShareBesidePasswords: number;
  /** Characters of that text. */
  readonly textLengthBesidePasswords: number;
  /** A layer over the page that covers most of the window, and what it says; null: there is none. */
  readonly wall: null | {
    readonly text: string;
    readonly coveredShare: number;
    /** It speaks of cookies or consent. */
    readonly isConsent: boolean;
  };
  /** A consent banner was found, and what became of it. */
  readonly consent: "none" | "refused" | "left";
  /** Marks of known challenge pages: frames and scripts of bot checks. */
  readonly challengeMarks: readonly string[];
  /** Pixels of the whole document, CSS. */
  readonly documentHeightPx: number;
}

/** All that is known of one visit, as data: what the network said, and what the page shows. */
export interface PageFacts {
  /** The address that was asked for. */
  readonly url: string;
  /** Where the browser was after settling; what scripts replaced is in it. */
  readonly finalUrl: string;
  /** Addresses of the main frame in order, redirects and script navigations alike. */
  readonly chain: readonly string[];
  /** Of the main document's last answer; null: there was none. */
  readonly httpStatus: number | null;
  /** Its headers, names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** The type of the main document as the browser took it, such as text/html. */
  readonly contentType: string | null;
  /** The document became a file. */
  readonly isDownload: boolean;
  /** The browser's word for a navigation that failed, such as net::ERR_TOO_MANY_REDIRECTS. */
  readonly netError: string | null;
  /** The main document was refused by the egress proxy, for this reason. */
  readonly egressRefusal: null | "blocked_address" | "blocked_host" | "blocked_port" | "too_much";
  /** The page ran past the time of a visit. */
  readonly isTimedOut: boolean;
  /** The renderer ended. */
  readonly isCrashed: boolean;
  /** Null where there is no page to look at. */
  readonly content: PageContent | null;
}
