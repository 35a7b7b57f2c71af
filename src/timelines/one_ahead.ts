/**
 * Fetches something for each item, and yields both. The next one is fetched while the yielded one is
 * processed.
 */
export async function* oneAhead<Item, Fetched>(
  items: Iterable<Item>,
  fetch: (item: Item) => Promise<Fetched>,
): AsyncGenerator<readonly [Item, Fetched]> {
  const rest = Iterator.from(items);
  const fetchNext = (): Promise<readonly [Item, Fetched] | null> => {
    const { value: item, done } = rest.next();
    if (done === true) return Promise.resolve(null);
    const fetching = fetch(item).then((fetched) => [item, fetched] as const);
    // A failure is thrown when it is awaited.
    fetching.catch(() => {});
    return fetching;
  };
  let next = fetchNext();
  try {
    for (let here = await next; here !== null; here = await next) {
      next = fetchNext();
      yield here;
    }
  } finally {
    // No statement may be under way once this has ended.
    await next.catch(() => {});
  }
}
