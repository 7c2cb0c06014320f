import type { ComponentProps } from 'react';

/**
 * To the API reference, in a tab of its own: the page of the session, with its tokens, runs none of the code that the
 * reference needs.
 */
export function ReferenceLink({ children, ...props }: Omit<ComponentProps<'a'>, 'href' | 'target' | 'rel'>) {
  return (
    <a href="/reference" target="_blank" rel="noopener" {...props}>
      {children}
      <span className="sr-only"> (new tab)</span>
    </a>
  );
}
