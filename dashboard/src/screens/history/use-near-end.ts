import { useEffect, useState } from 'react';

/** Tells whether an element is on the screen or up to a screen below it. The element is given to `ref`. */
export function useNearEnd(): { ref: (element: Element | null) => void; nearEnd: boolean } {
  const [element, ref] = useState<Element | null>(null);
  const [nearEnd, setNearEnd] = useState(false);
  useEffect(() => {
    if (element === null || typeof IntersectionObserver === 'undefined') return;
    const observer = new IntersectionObserver(
      (entries) => setNearEnd(entries.at(-1)?.isIntersecting ?? false),
      { rootMargin: '0px 0px 100% 0px' },
    );
    observer.observe(element);
    return () => {
      observer.disconnect();
      setNearEnd(false);
    };
  }, [element]);
  return { ref, nearEnd };
}
