import { useEffect, useLayoutEffect, useState } from 'react';

/** The current time, updated every half minute for relative times, or as often as is asked for. */
export function useNow(everyMs = 30_000): number {
  const [nowMs, setNowMs] = useState(() => Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNowMs(Date.now()), everyMs);
    return () => clearInterval(timer);
  }, [everyMs]);
  return nowMs;
}

/** Whole seconds until a moment, 0 when it is there. Read from the clock, because timers stop while a laptop sleeps. */
export function useSecondsUntil(momentMs: number): number {
  const [seconds, setSeconds] = useState(0);
  useLayoutEffect(() => {
    const count = (): void => setSeconds(Math.max(0, Math.ceil((momentMs - Date.now()) / 1000)));
    count();
    if (momentMs <= Date.now()) return;
    const timer = setInterval(count, 250);
    return () => clearInterval(timer);
  }, [momentMs]);
  return seconds;
}
