import type { ReactNode } from 'react';
import { formatDateTime, formatExactTime, formatRelative } from '@/lib/format.ts';
import { useNow } from '@/lib/use-now.ts';

interface TimeProps {
  iso: string;
  /** Shows how long ago it was: `5 minutes ago`. */
  relative?: boolean;
  /** How it is shown instead: a day. Without both, the date and the time. */
  children?: ReactNode;
  className?: string;
}

/** A moment. Its seconds are in the title. */
export function Time({ iso, relative = false, children, className }: TimeProps) {
  return (
    <time dateTime={iso} title={formatExactTime(iso)} className={className}>
      {relative ? <Ago iso={iso} /> : (children ?? formatDateTime(iso))}
    </time>
  );
}

function Ago({ iso }: { iso: string }) {
  return formatRelative(iso, 'happened', useNow());
}

interface MadeProps {
  generation: { identity: { name: string }; identityVersion?: number | null; createdAt: string };
}

/** With which identity a request was made, and how long ago. */
export function Made({ generation: { identity, identityVersion, createdAt } }: MadeProps) {
  return (
    <>
      <bdi>{identity.name}</bdi>
      {identityVersion && `, version ${identityVersion}`}, <Time iso={createdAt} relative />
    </>
  );
}
