/** Names of Chromium and its relatives on Unix, the plainest first. */
const UNIX_NAMES = [
  "chromium",
  "chromium-browser",
  "google-chrome-stable",
  "google-chrome",
  "chrome",
  "microsoft-edge-stable",
  "microsoft-edge",
  "brave-browser",
];
const UNIX_FOLDERS = [
  "/usr/bin",
  "/usr/local/bin",
  "/bin",
  "/opt/homebrew/bin",
  "/snap/bin",
  "/run/current-system/sw/bin",
];
const LINUX_PLACES = [
  "/opt/google/chrome/chrome",
  "/opt/microsoft/msedge/msedge",
  "/opt/brave.com/brave/brave",
  "/usr/lib/chromium/chromium",
  "/usr/lib64/chromium-browser/chromium-browser",
  "/var/lib/flatpak/exports/bin/org.chromium.Chromium",
  "/var/lib/flatpak/exports/bin/com.google.Chrome",
];
const MAC_PLACES = [
  "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
  "/Applications/Chromium.app/Contents/MacOS/Chromium",
  "/Applications/Microsoft Edge.app/Contents/MacOS/Microsoft Edge",
  "/Applications/Brave Browser.app/Contents/MacOS/Brave Browser",
];
const WINDOWS_PLACES = [
  "C:\\Program Files\\Google\\Chrome\\Application\\chrome.exe",
  "C:\\Program Files (x86)\\Google\\Chrome\\Application\\chrome.exe",
  "C:\\Program Files\\Chromium\\Application\\chrome.exe",
  "C:\\Program Files (x86)\\Microsoft\\Edge\\Application\\msedge.exe",
  "C:\\Program Files\\Microsoft\\Edge\\Application\\msedge.exe",
];

function places(os: typeof Deno.build.os): readonly string[] {
  if (os === "windows") return WINDOWS_PLACES;
  const onPath = UNIX_FOLDERS.flatMap((folder) => UNIX_NAMES.map((name) => `${folder}/${name}`));
  return os === "darwin" ? [...MAC_PLACES, ...onPath] : [...onPath, ...LINUX_PLACES];
}

/**
 * Returns the path of the browser: only the configured one if there is one, else the first in the usual places of
 * the operating system; null: none exists.
 * @param exists returns whether there is a file at a path that may be run
 */
export async function findBrowser(
  chromePath: string | null,
  os: typeof Deno.build.os,
  exists: (path: string) => Promise<boolean>,
): Promise<string | null> {
  for (const path of chromePath === null ? places(os) : [chromePath]) {
    if (await exists(path)) return path;
  }
  return null;
}
