/// <reference lib="dom" />
/** Icons on a grid of 20, in the colour of the text; decorative, always beside words. */

const SHAPES = {
  overview: "M3 17V9h3.5v8zM8.25 17V3h3.5v14zM13.5 17v-6H17v6z",
  sites: "M3 3.5h6v5.5H3zM11 3.5h6v5.5h-6zM3 11h6v5.5H3zM11 11h6v5.5h-6z",
  journeys: "M2.5 5h3.5c4 0 4 10 8 10h3.5M2.5 10h15M2.5 15H6c4 0 4-10 8-10h3.5",
  funnels: "M2.5 4h15M5 8.5h10M7.5 13h5M9 17.5h2",
  retention: "M3 3.5h14v13H3zM3 8h14M3 12.25h9.5M7.5 3.5v13M12.25 3.5v8.75",
  goals: "M10 2.5a7.5 7.5 0 1 1-.01 0M10 6.25a3.75 3.75 0 1 1-.01 0M10 9.5v1",
  trends: "M2.5 15.5 7.5 10l3.5 3 6.5-8M13 5h4.5v4.5",
  insights:
    "M7.25 14.5h5.5M8 17.5h4M10 2.5a5.25 5.25 0 0 1 3 9.5c-.5.4-.75 1-.75 2.5h-4.5c0-1.5-.25-2.1-.75-2.5a5.25 5.25 0 0 1 3-9.5",
  vitals: "M2 10h3.5l2-5.5 4 11 2-5.5H18",
  heatmaps: "M3 3.5h14v13H3zM8 8.5a2 2 0 1 1-.01 0M13 11.5a1.25 1.25 0 1 1-.01 0",
  events: "M3 5h.01M7 5h10M3 10h.01M7 10h10M3 15h.01M7 15h10",
  settings: "M3 6h7M14 6h3M12 4v4M3 14h3M10 14h7M8 12v4",
  person: "M10 3.5a3.25 3.25 0 1 1-.01 0M3.5 17c.5-4 3-5.5 6.5-5.5s6 1.5 6.5 5.5",
  people:
    "M7.5 4.5a2.75 2.75 0 1 1-.01 0M2 16c.4-3.4 2.4-4.75 5.5-4.75S12.6 12.6 13 16M12.5 4.75a2.5 2.5 0 0 1 0 5M14.75 11.5c2 .5 3 2 3.25 4.5",
  key: "M13 3.5a3.5 3.5 0 1 1-.01 0M10.5 9.5 3.5 16.5M5.5 14.5l2 2M8 12l1.5 1.5",
  log: "M4 3h12v14H4zM7 7h6M7 10h6M7 13h3.5",
  eye: "M2 10c2-3.5 4.6-5 8-5s6 1.5 8 5c-2 3.5-4.6 5-8 5s-6-1.5-8-5M10 7.75a2.25 2.25 0 1 1-.01 0",
  unseen:
    "M2 10c2-3.5 4.6-5 8-5s6 1.5 8 5c-2 3.5-4.6 5-8 5s-6-1.5-8-5M10 7.75a2.25 2.25 0 1 1-.01 0M4 16 16 4",
  link:
    "M8.5 11.5a3 3 0 0 0 4.25 0l3-3a3 3 0 0 0-4.25-4.25L10.25 5.5M11.5 8.5a3 3 0 0 0-4.25 0l-3 3a3 3 0 0 0 4.25 4.25l1.25-1.25",
  close: "M5 5l10 10M15 5 5 15",
  plus: "M10 4v12M4 10h12",
  down: "M5 7.5l5 5 5-5",
  up: "M10 16V4M5 9l5-5 5 5",
  fall: "M10 4v12M5 11l5 5 5-5",
  filter: "M3 4.5h14l-5.5 6.5v5l-3-1.5V11z",
  download: "M10 3v9M6 8.5l4 4 4-4M3.5 16.5h13",
  menu: "M3 5.5h14M3 10h14M3 14.5h14",
  table: "M3 4h14v12H3zM3 8h14M3 12h14M8 4v12",
  chart: "M3 3v14h14M6 13l3.5-4 3 2.5L17 6",
  refresh: "M16 10a6 6 0 1 1-1.8-4.3M16 3v3.5h-3.5",
  copy: "M7 7h9.5v9.5H7zM4 13H3.5V3.5H13V4",
  sun:
    "M10 6.5a3.5 3.5 0 1 1-.01 0M10 1.5v2M10 16.5v2M1.5 10h2M16.5 10h2M4 4l1.4 1.4M14.6 14.6 16 16M16 4l-1.4 1.4M5.4 14.6 4 16",
  moon: "M16.5 11.5A7 7 0 0 1 8.5 3.5a7 7 0 1 0 8 8",
  screen: "M2.5 4h15v10h-15zM7 17h6M10 14v3",
  leave: "M8 3.5H3.5v13H8M12 6.5l3.5 3.5-3.5 3.5M15.5 10H7",
  check: "M4 10.5l4 4 8-9",
  trash: "M3.5 5.5h13M8 5.5V3.5h4v2M5.5 5.5l.75 11h7.5l.75-11",
  edit: "M4 16l.75-3.5L13.5 3.75l2.75 2.75-8.75 8.75z",
  play: "M6 4l10 6-10 6z",
  pause: "M6.5 4v12M13.5 4v12",
  camera: "M2.5 6h4l1.5-2h4l1.5 2h4v10h-15zM10 8a3 3 0 1 1-.01 0",
  calendar: "M3 4.5h14v12H3zM3 8.5h14M7 2.5v4M13 2.5v4",
  expand: "M11.5 3H17v5.5M17 3l-6 6M8.5 17H3v-5.5M3 17l6-6",
} as const;

export type IconName = keyof typeof SHAPES;

/** A decorative icon. `size` in pixels. */
export function Icon({ name, size = 16 }: { name: IconName; size?: number }) {
  return (
    <svg
      class="icon"
      width={size}
      height={size}
      viewBox="0 0 20 20"
      fill="none"
      stroke="currentColor"
      stroke-width="1.6"
      stroke-linecap="round"
      stroke-linejoin="round"
      aria-hidden="true"
      focusable="false"
    >
      <path d={SHAPES[name]} />
    </svg>
  );
}

/** The product's logo: a step that leaves two prints. */
export function Mark({ size = 24 }: { size?: number }) {
  return (
    <svg width={size} height={size} viewBox="0 0 24 24" aria-hidden="true" focusable="false">
      <rect width="24" height="24" rx="6" fill="var(--accent)" />
      <ellipse cx="8.6" cy="9.4" rx="2.7" ry="4.4" fill="var(--on-accent)" />
      <ellipse cx="8.6" cy="17" rx="2" ry="1.7" fill="var(--on-accent)" />
      <ellipse cx="15.6" cy="7" rx="2.4" ry="3.9" fill="var(--on-accent)" opacity=".7" />
      <ellipse cx="15.6" cy="13.8" rx="1.8" ry="1.5" fill="var(--on-accent)" opacity=".7" />
    </svg>
  );
}
