import { CircleCheck, CircleX, Clock } from 'lucide-react';
import type { KeyAnswer, KeyStatus, LicenseAnswer } from '@/api/types.ts';
import { Badge } from '@/components/ui/badge.tsx';
import { formatDate, formatDateTime, formatRelative, shortId } from '@/lib/format.ts';
import { LicenseBadge } from '@/license/license-badge.tsx';
import { expiryAt, statusAt } from './key-view.ts';

const looks = {
  active: { label: 'Active', variant: 'success', icon: CircleCheck },
  expired: { label: 'Expired', variant: 'default', icon: Clock },
  revoked: { label: 'Revoked', variant: 'default', icon: CircleX },
} as const satisfies Record<KeyStatus, unknown>;

export function KeyStatusBadge({ status }: { status: KeyStatus }) {
  const { label, variant, icon: Icon } = looks[status];
  return (
    <Badge variant={variant}>
      <Icon aria-hidden />
      {label}
    </Badge>
  );
}

export function KeyPrefix({ prefix }: { prefix: string }) {
  return (
    <code className="text-xs whitespace-nowrap text-muted-foreground">
      <span className="sr-only">Begins with </span>
      {prefix}…
    </code>
  );
}

/** The license of a key, and why it generates nothing, if so: its keys are then refused although they are active. */
export function KeyLicense({
  licenseId,
  license,
}: {
  licenseId: string;
  license: LicenseAnswer | undefined;
}) {
  return (
    <span className="flex flex-wrap items-center gap-x-2 gap-y-1">
      <span className="whitespace-nowrap">
        {license && <span className="mr-2">{license.tier}</span>}
        <span className="text-xs text-muted-foreground">{shortId(licenseId)}</span>
      </span>
      {license && <LicenseBadge license={license} />}
    </span>
  );
}

export function Day({ iso }: { iso: string }) {
  return (
    <time dateTime={iso} title={formatDateTime(iso)} className="whitespace-nowrap">
      {formatDate(iso)}
    </time>
  );
}

export function LastUsed({ iso, nowMs }: { iso: string | null; nowMs: number }) {
  if (iso === null) return <span className="text-muted-foreground">Never</span>;
  return (
    <time dateTime={iso} title={formatDateTime(iso)} className="whitespace-nowrap">
      {formatRelative(iso, nowMs)}
    </time>
  );
}

/** When a key ends or has ended. */
export function KeyEnd({ item, nowMs }: { item: KeyAnswer; nowMs: number }) {
  const status = statusAt(item, nowMs);
  if (status === 'revoked' && item.revokedAt !== null) {
    return (
      <span className="text-muted-foreground">
        Revoked <Day iso={item.revokedAt} />
      </span>
    );
  }
  if (item.expiresAt === null) return <span className="text-muted-foreground">Never</span>;
  const { soon, near } = expiryAt(item, nowMs);
  const relative = formatRelative(item.expiresAt, nowMs);
  return (
    <span className="inline-flex flex-wrap items-center gap-x-2 gap-y-1">
      <Day iso={item.expiresAt} />
      {soon && (
        <Badge variant="warning">
          <Clock aria-hidden />
          {relative}
        </Badge>
      )}
      {near && !soon && <span className="text-xs whitespace-nowrap text-muted-foreground">{relative}</span>}
    </span>
  );
}
