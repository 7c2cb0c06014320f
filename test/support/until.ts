/** Waits until a condition holds. @throws when it does not within a generous time. */
export async function until(
  what: string,
  isSo: () => boolean | Promise<boolean>,
  withinMs = 60_000,
  everyMs = 20,
): Promise<void> {
  const untilMs = Date.now() + withinMs;
  while (!(await isSo())) {
    if (Date.now() > untilMs) throw new Error(`after ${withinMs} ms it was still not so: ${what}`);
    await pause(everyMs);
  }
}

export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
