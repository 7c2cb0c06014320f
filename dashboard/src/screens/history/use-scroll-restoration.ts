import { useEffect, useLayoutEffect } from 'react';
import { useLocation, useNavigationType } from 'react-router';

/** The scroll position and the opened request of each list, by history entry. */
const scrollTops = new Map<string, number>();
const openedIds = new Map<string, string>();

/**
 * Restores the scroll position and the focus when somebody comes back to a list. The browser can't do it: it scrolls
 * before the list is loaded.
 */
export function useScrollRestoration(): { remember: (requestId: string) => void } {
  const { key } = useLocation();
  const cameBack = useNavigationType() === 'POP';
  useLayoutEffect(() => {
    const kept = scrollTops.get(key);
    if (cameBack && kept !== undefined) window.scrollTo(0, kept);
    const keep = (): void => void scrollTops.set(key, window.scrollY);
    window.addEventListener('scroll', keep, { passive: true });
    // In the layout phase, before the next page, which may be shorter, scrolls.
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
