/** What each figure means, in a sentence or two; the API's `semantics` say the same at length. */
export const DEFINITIONS = {
  visitors:
    "Different people with at least one event in the range. Someone who signs in on two devices is one person.",
  newVisitors: "Visitors whose first event ever lies in the range.",
  sessions:
    "Visits: events of one person, until 30 minutes pass without any. A visit counts where it starts.",
  pageviews: "The number of times that pages were viewed.",
  events: "Everything that was recorded, page views, clicks and scrolls included.",
  bounceRate: "Share of visits with one page view at most and no custom event.",
  sessionDuration:
    "Time from the first to the last event of a visit, on average. Visits of a single event count as zero.",
  pageviewsPerSession: "Page views in the range, divided by the visits that start in it.",
  change:
    "Difference to the period compared with: of counts in percent, of rates in percentage points. An unfinished period is compared with the equally long part.",
  acquisition:
    "Where visits come from: the source of each visit's first page view. Channels follow the default groups of Google Analytics 4, with AI assistants besides.",
  pages: "Visitors and views of each page.",
  entries: "Visits that begin on the page.",
  exits: "Visits that end on the page.",
  pageBounceRate: "Share of bounces among the visits that begin on the page.",
  secondsOnPage:
    "Median time until the next page view of the visit; on its last page, until its last event.",
  scrollDepth: "How far down the page a typical view reaches.",
  places: "Where visitors are, by the address that their events came from.",
  devices: "What visitors use, by the browser's own description of itself.",
  live: "Different people with an event in the last 5 minutes.",
  goals: "Saved goals: who reached them, and what that is worth.",
  uniqueConversions: "Different people who reached the goal.",
  totalConversions: "The number of times that the goal was reached.",
  share: "Visitors of this row, as a share of all. Who came in several ways is in several rows.",
  conversionRate: "People who reached the goal, as a share of all visitors under the same filters.",
  goalValue: "What all conversions are worth together.",
  funnel:
    "People who did the first step in the range, and how many of them went on to each next step in time.",
  retention:
    "Of the people who began in a period, the share that came back in each period after it.",
  rageClicks: "Three or more clicks within a second on the same spot.",
  deadClicks: "Clicks after which nothing happened for a second.",
} as const;
