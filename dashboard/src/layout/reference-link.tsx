import { useState, type ComponentProps } from 'react';
import { useIdentities } from '@/api/queries.ts';
import { useLicenseChoice } from '@/license/license-choice.ts';

interface ReferenceLinkProps extends Omit<ComponentProps<'a'>, 'href' | 'target' | 'rel'> {
  /** A place in the reference, as its own links name it: `description/errors`. */
  at?: string;
  /** Whether somebody is about to follow it from the beginning, as in a menu that was opened. */
  near?: boolean;
}

/**
 * A link to the API reference in a new tab. The code of the reference must not run in a page that has tokens. So the
 * address names an identity for its examples, which is asked for once somebody is about to follow the link.
 */
export function ReferenceLink({ at, near = false, children, ...props }: ReferenceLinkProps) {
  const [isNear, setNear] = useState(near);
  const { license } = useLicenseChoice();
  const { data: identities } = useIdentities(license?.licenseId, isNear);
  const identity = identities?.find(({ available }) => available);
  return (
    <a
      {...props}
      href={`/reference${identity ? `?identity=${identity.id}` : ''}${at === undefined ? '' : `#${at}`}`}
      target="_blank"
      rel="noopener"
      onPointerEnter={(event) => {
        setNear(true);
        props.onPointerEnter?.(event);
      }}
      onFocus={(event) => {
        setNear(true);
        props.onFocus?.(event);
      }}
    >
      {children}
      <span className="sr-only"> (new tab)</span>
    </a>
  );
}
