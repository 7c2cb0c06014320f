import { useEffect, useState } from 'react';

/** The current time, updated every half minute for relative times, or as often as is asked for. */
export function useNow(everyMs = 30_000): number {
  const [nowMs, setNowMs] = useState(() => Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNowMs(Date.now()), everyMs);
    return () => clearInterval(timer);
  }, [everyMs]);
  return nowMs;
}
