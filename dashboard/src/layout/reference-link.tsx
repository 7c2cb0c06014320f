import type { ComponentProps } from 'react';

/**
 * A link to the API reference in a new tab. The code of the reference must not run in a page that has tokens.
 */
export function ReferenceLink({ children, ...props }: Omit<ComponentProps<'a'>, 'href' | 'target' | 'rel'>) {
  return (
    <a href="/reference" target="_blank" rel="noopener" {...props}>
      {children}
      <span className="sr-only"> (new tab)</span>
    </a>
  );
}
