/// <reference lib="dom" />
/** The browser reads the file after the click has returned. */
const RELEASE_MS = 60_000;

/** Offers a file to the person as a download. */
export function download(name: string, content: Blob): void {
  const url = URL.createObjectURL(content);
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), RELEASE_MS);
}

/** Offers text as a CSV file. A byte-order mark tells spreadsheets that it is UTF-8. */
export function downloadCsv(name: string, text: string): void {
  download(`${name}.csv`, new Blob(["\ufeff", text], { type: "text/csv;charset=utf-8" }));
}
