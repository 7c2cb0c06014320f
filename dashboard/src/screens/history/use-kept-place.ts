import { useEffect, useLayoutEffect } from 'react';
import { useLocation, useNavigationType } from 'react-router';

/** Places in lists that were left, by the history entry that showed them. */
const scrollTops = new Map<string, number>();
const openedIds = new Map<string, string>();

/**
 * Whoever comes back to a list finds it where it was left, with the focus on what was opened. The browser can't do
 * that alone: it scrolls before the list is there again.
 */
export function useKeptPlace(): { remember: (requestId: string) => void } {
  const { key } = useLocation();
  const cameBack = useNavigationType() === 'POP';
  useLayoutEffect(() => {
    const kept = scrollTops.get(key);
    if (cameBack && kept !== undefined) window.scrollTo(0, kept);
    const keep = (): void => void scrollTops.set(key, window.scrollY);
    window.addEventListener('scroll', keep, { passive: true });
    // In the layout phase, so that the shorter page that follows can't overwrite the place.
    return () => window.removeEventListener('scroll', keep);
  }, [key, cameBack]);
  useEffect(() => {
    const opened = openedIds.get(key);
    if (cameBack && opened !== undefined) {
      document.getElementById(requestLinkId(opened))?.focus({ preventScroll: true });
    }
  }, [key, cameBack]);
  return { remember: (requestId) => void openedIds.set(key, requestId) };
}

/** The element id of the link to a request in a list. */
export function requestLinkId(requestId: string): string {
  return `request-${requestId}`;
}
