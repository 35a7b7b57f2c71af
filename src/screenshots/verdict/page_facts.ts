/** Layers that cover at least this share of the window are a wall. */
export const WALL_SHARE_MIN = 0.5;

/** The content of a settled page, as a visitor without an account sees it. */
export interface PageContent {
  readonly title: string;
  /** Characters of the visible text, with each run of white space as one. */
  readonly textLength: number;
  /** The start of that text, for verdicts that only words show (soft 404, bot check, cookie wall). */
  readonly textStart: string;
  /** The first headings, in order. */
  readonly headings: readonly string[];
  /** Visible password fields. */
  readonly passwordFields: number;
  /** The share of the text outside the smallest part with the password fields; 0: the page is only their form. */
  readonly textShareBesidePasswords: number;
  /** Characters of that text. */
  readonly textLengthBesidePasswords: number;
  /** The layer that covers most of the window; null: there is none. */
  readonly wall: null | {
    readonly text: string;
    readonly coveredShare: number;
    /** Whether it asks for consent. */
    readonly isConsent: boolean;
  };
  /** What happened to a consent banner; `none`: the page has none. */
  readonly consent: "none" | "refused" | "left";
  /** Addresses of frames and scripts of known bot checks. */
  readonly challengeMarks: readonly string[];
  /** The height of the whole document in CSS pixels. */
  readonly documentHeightPx: number;
}

/** The facts of a visit: what the network answered, and what the page shows. */
export interface PageFacts {
  /** The requested address. */
  readonly url: string;
  /** The address after settling, with changes that scripts made to it. */
  readonly finalUrl: string;
  /** The addresses of the main frame in order, with redirects and navigations by scripts. */
  readonly chain: readonly string[];
  /** The status of the main document's last response; null: there was none. */
  readonly httpStatus: number | null;
  /** The headers of that response, with names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** The main document's type as the browser sees it, such as text/html. */
  readonly contentType: string | null;
  /** Whether the document was downloaded as a file. */
  readonly isDownload: boolean;
  /** The browser's code for a failed navigation, such as net::ERR_TOO_MANY_REDIRECTS. */
  readonly netError: string | null;
  /** Why the egress proxy refused the main document; null: it did not. */
  readonly egressRefusal: null | "blocked_address" | "blocked_host" | "blocked_port" | "too_much";
  /** Whether the page exceeded a time limit of the visit. */
  readonly isTimedOut: boolean;
  /** Whether the renderer crashed. */
  readonly isCrashed: boolean;
  /** Null: there is no page. */
  readonly content: PageContent | null;
}
