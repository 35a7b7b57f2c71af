/** A zone in which it is about noon: no day begins or ends there while the tests run. */
export const NOON_ZONE = (() => {
  const offset = 12 - new Date().getUTCHours();
  return `Etc/GMT${offset > 0 ? "-" : "+"}${Math.abs(offset)}`;
})();
