import { CircleCheck, CircleX, Clock } from 'lucide-react';
import { Fragment, useSyncExternalStore } from 'react';
import type { KeyAnswer, KeyStatus, LicenseAnswer } from '@/lib/types.ts';
import { Badge, Card } from '@/components/ui/card.tsx';
import { Button } from '@/components/ui/button.tsx';
import { cn } from '@/lib/cn.ts';
import { formatDate, formatRelative, shortId, formatUtcDay } from '@/lib/format.ts';
import { LicenseBadge } from '@/license/license-badge.tsx';
import { Time } from '@/components/time.tsx';
import { budgetOf, expiryAt, limitsOf, refusalAt, statusAt } from './key-view.ts';

interface KeyListProps {
  keys: KeyAnswer[];
  licenses: LicenseAnswer[];
  nowMs: number;
  label: string;
  /** The buttons are where the focus goes back to. */
  onEdit: (key: KeyAnswer, button: HTMLElement) => void;
  onRevoke: (key: KeyAnswer, button: HTMLElement) => void;
}

export function KeyList(props: KeyListProps) {
  return useWide() ? <KeyTable {...props} /> : <KeyCards {...props} />;
}

const columns = ['Name', 'License', 'Status', 'Budget', 'Created', 'Last used', 'Expires'];

function KeyTable({ keys, label, ...rest }: KeyListProps) {
  return (
    <div className="overflow-x-auto rounded-lg border border-border bg-card">
      <table className="w-full text-left">
        <caption className="sr-only">{label}</caption>
        <thead className="text-xs text-muted-foreground">
          <tr className="border-b border-border">
            {columns.map((column) => (
              <th key={column} scope="col" className="px-4 py-2 font-medium whitespace-nowrap">
                {column}
              </th>
            ))}
            <th scope="col" className="px-4 py-2">
              <span className="sr-only">Actions</span>
            </th>
          </tr>
        </thead>
        <tbody className="divide-y divide-border">
          {keys.map((item) => (
            <KeyRow key={item.keyId} item={item} {...rest} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

interface KeyItemProps extends Pick<KeyListProps, 'licenses' | 'nowMs' | 'onEdit' | 'onRevoke'> {
  item: KeyAnswer;
}

function KeyRow(props: KeyItemProps) {
  const { License, ...times } = detailsOf(props);
  const cells = [License, <KeyStatusBadge key="status" {...props} />, ...Object.values(times)];
  return (
    <tr>
      <th scope="row" className="max-w-72 px-4 py-3 font-normal">
        <KeyName item={props.item} />
      </th>
      {cells.map((cell, index) => (
        <td key={index} className="px-4 py-3">
          {cell}
        </td>
      ))}
      <td className="px-4 py-3 text-right">
        <KeyActions {...props} size="sm" className="justify-end" />
      </td>
    </tr>
  );
}

function KeyCards({ keys, label, ...rest }: KeyListProps) {
  return (
    <ul aria-label={label} className="grid grid-cols-1 gap-4 md:grid-cols-2">
      {keys.map((item) => (
        <li key={item.keyId} className="min-w-0">
          <KeyCard item={item} {...rest} />
        </li>
      ))}
    </ul>
  );
}

function KeyCard(props: KeyItemProps) {
  return (
    <Card className="flex h-full flex-col gap-4">
      <div className="flex items-start justify-between gap-4">
        <h2 className="min-w-0">
          <KeyName item={props.item} />
        </h2>
        <KeyStatusBadge {...props} />
      </div>
      <dl className="grid grid-cols-[auto_minmax(0,1fr)] gap-x-4 gap-y-1 [&>dd]:text-right [&>dd>span]:justify-end [&>dt]:text-muted-foreground">
        {Object.entries(detailsOf(props)).map(([name, value]) => (
          <Fragment key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </Fragment>
        ))}
      </dl>
      <KeyActions {...props} className="mt-auto *:flex-1" />
    </Card>
  );
}

/** What a card and a row of the table have in common, in their order. */
function detailsOf({ item, licenses, nowMs }: KeyItemProps) {
  const license = licenseOf(item, licenses);
  const { createdAt, lastUsedAt } = item;
  return {
    License: <KeyLicense {...{ item, license, nowMs }} />,
    Budget: <KeyBudget {...{ item, license, nowMs }} />,
    Created: (
      <Time className="whitespace-nowrap" iso={createdAt}>
        {formatDate(createdAt)}
      </Time>
    ),
    'Last used': lastUsedAt ? <Time className="whitespace-nowrap" iso={lastUsedAt} relative /> : never,
    Expires: <KeyEnd item={item} nowMs={nowMs} />,
  };
}

const never = <span className="text-muted-foreground">Never</span>;

function KeyName({ item }: { item: KeyAnswer }) {
  const { name, keyPrefix } = item;
  return (
    <>
      <span dir="auto" className="block font-medium wrap-anywhere">
        {name}
      </span>
      <code className="text-xs whitespace-nowrap text-muted-foreground">
        <span className="sr-only">Begins with </span>
        {keyPrefix}…
      </code>
      <span className="block text-xs text-muted-foreground empty:hidden">{limitsOf(item).join(' · ')}</span>
    </>
  );
}

const badges = {
  active: { label: 'Active', variant: 'success', icon: CircleCheck },
  expired: { label: 'Expired', variant: 'default', icon: Clock },
  revoked: { label: 'Revoked', variant: 'default', icon: CircleX },
  /** By its license. */
  refused: { label: 'Refused', variant: 'warning', icon: CircleX },
} as const satisfies Record<KeyStatus | 'refused', unknown>;

function licenseOf(item: KeyAnswer, licenses: LicenseAnswer[]): LicenseAnswer | undefined {
  return licenses.find(({ licenseId }) => licenseId === item.licenseId);
}

function KeyStatusBadge({ item, licenses, nowMs }: Pick<KeyItemProps, 'item' | 'licenses' | 'nowMs'>) {
  const isRefused = refusalAt(item, licenseOf(item, licenses), nowMs) !== null;
  const { label, variant, icon: Icon } = badges[isRefused ? 'refused' : statusAt(item, nowMs)];
  return (
    <Badge variant={variant}>
      <Icon aria-hidden />
      {label}
    </Badge>
  );
}

/** The license of a key, and why a key that is itself active is refused with it. */
function KeyLicense({ item, license, nowMs }: { item: KeyAnswer; license?: LicenseAnswer; nowMs: number }) {
  const refusal = refusalAt(item, license, nowMs);
  return (
    <span className="grid gap-1">
      {license ? (
        <span className="flex flex-wrap items-center gap-x-2">
          <bdi className="wrap-anywhere">{license.name}</bdi>
          <LicenseBadge license={license} />
        </span>
      ) : (
        <span className="text-xs text-muted-foreground">{shortId(item.licenseId)}</span>
      )}
      {refusal !== null && <span className="text-xs text-pretty">{refusal}</span>}
    </span>
  );
}

function KeyEnd({ item, nowMs }: Pick<KeyItemProps, 'item' | 'nowMs'>) {
  const { revokedAt, expiresAt } = item;
  if (statusAt(item, nowMs) === 'revoked' && revokedAt !== null) {
    return (
      <span className="text-muted-foreground">
        Revoked{' '}
        <Time className="whitespace-nowrap" iso={revokedAt}>
          {formatDate(revokedAt)}
        </Time>
      </span>
    );
  }
  if (expiresAt === null) return never;
  const { soon, near } = expiryAt(item, nowMs);
  const relative = formatRelative(expiresAt, 'to come', nowMs);
  return (
    <span className="inline-flex flex-wrap items-center gap-x-2 gap-y-1">
      <Time className="whitespace-nowrap" iso={expiresAt}>
        {formatDate(expiresAt)}
      </Time>
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

interface KeyActionsProps extends KeyItemProps {
  size?: 'sm';
  className?: string;
}

function KeyActions({ item, nowMs, onEdit, onRevoke, size, className }: KeyActionsProps) {
  const status = statusAt(item, nowMs);
  const actions = {
    ...(status !== 'revoked' && { Edit: onEdit }),
    ...(status === 'active' && { Revoke: onRevoke }),
  };
  return (
    <div className={cn('flex gap-2', className)}>
      {Object.entries(actions).map(([label, act]) => (
        <Button
          key={label}
          variant="outline"
          size={size}
          onClick={({ currentTarget }) => act(item, currentTarget)}
        >
          {label} <bdi className="sr-only">{item.name}</bdi>
        </Button>
      ))}
    </div>
  );
}

/** A table with seven columns fits beside the sidebar from here on. */
const wide = window.matchMedia('(min-width: 86rem)');

function useWide(): boolean {
  return useSyncExternalStore(subscribe, () => wide.matches);
}

function subscribe(listener: () => void): () => void {
  wide.addEventListener('change', listener);
  return () => wide.removeEventListener('change', listener);
}

interface KeyBudgetProps {
  item: KeyAnswer;
  license: LicenseAnswer | undefined;
  nowMs: number;
}

function KeyBudget({ item, license, nowMs }: KeyBudgetProps) {
  const { text, barPercent, isUsedUp } = budgetOf(item);
  if (barPercent === null) {
    return (
      <span className="grid text-muted-foreground">
        No budget
        {item.creditsUsed > 0 && <span className="text-xs whitespace-nowrap">{text}</span>}
      </span>
    );
  }
  return (
    <span className="grid gap-1">
      <span className="whitespace-nowrap tabular-nums">{text}</span>
      <span aria-hidden className="h-1 w-full min-w-24 overflow-hidden rounded-full bg-secondary">
        <span
          className={`block h-full rounded-full ${isUsedUp ? 'bg-destructive' : 'bg-primary'}`}
          style={{ width: `${barPercent}%` }}
        />
      </span>
      {isUsedUp && statusAt(item, nowMs) === 'active' && (
        <Badge variant="warning" className="mt-1 justify-self-end [td_&]:justify-self-start">
          <CircleX aria-hidden />
          Used up{license !== undefined && ` until ${formatUtcDay(license.billingPeriodEnd)}`}
        </Badge>
      )}
    </span>
  );
}
