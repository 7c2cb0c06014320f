import { useEffect, useState } from 'react';

const refreshMs = 30_000;

/** Milliseconds since 1970, renewed twice a minute, so that "5 minutes ago" and a key's end stay true. */
export function useNow(): number {
  const [nowMs, setNowMs] = useState(() => Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNowMs(Date.now()), refreshMs);
    return () => clearInterval(timer);
  }, []);
  return nowMs;
}
