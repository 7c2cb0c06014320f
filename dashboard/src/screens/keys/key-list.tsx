import type { KeyAnswer, LicenseAnswer } from '@/api/types.ts';
import { Button } from '@/components/ui/button.tsx';
import { Card } from '@/components/ui/card.tsx';
import { Day, KeyEnd, KeyLicense, KeyPrefix, KeyStatusBadge, LastUsed } from './key-facts.tsx';
import { statusAt } from './key-view.ts';
import { useWide } from './use-wide.ts';

/** The button is where the focus goes back to. */
export type AskToRevoke = (key: KeyAnswer, button: HTMLElement) => void;

interface KeyListProps {
  keys: KeyAnswer[];
  licenses: LicenseAnswer[];
  nowMs: number;
  /** What the list is, for screen readers. */
  label: string;
  onRevoke: AskToRevoke;
}

export function KeyList(props: KeyListProps) {
  return useWide() ? <KeyTable {...props} /> : <KeyCards {...props} />;
}

const columns = ['Name', 'License', 'Status', 'Created', 'Last used', 'Expires'];

function KeyTable({ keys, licenses, nowMs, label, onRevoke }: KeyListProps) {
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
              <span className="sr-only">Action</span>
            </th>
          </tr>
        </thead>
        <tbody className="divide-y divide-border">
          {keys.map((item) => (
            <KeyRow key={item.keyId} {...{ item, licenses, nowMs, onRevoke }} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

interface KeyItemProps extends Pick<KeyListProps, 'licenses' | 'nowMs' | 'onRevoke'> {
  item: KeyAnswer;
}

function KeyRow({ item, licenses, nowMs, onRevoke }: KeyItemProps) {
  const status = statusAt(item, nowMs);
  return (
    <tr>
      <th scope="row" className="max-w-72 px-4 py-3 font-normal">
        <span className="block font-medium wrap-anywhere">{item.name}</span>
        <KeyPrefix prefix={item.keyPrefix} />
      </th>
      <td className="px-4 py-3">
        <KeyLicense licenseId={item.licenseId} license={licenseOf(item, licenses)} />
      </td>
      <td className="px-4 py-3">
        <KeyStatusBadge status={status} />
      </td>
      <td className="px-4 py-3">
        <Day iso={item.createdAt} />
      </td>
      <td className="px-4 py-3">
        <LastUsed iso={item.lastUsedAt} nowMs={nowMs} />
      </td>
      <td className="px-4 py-3">
        <KeyEnd item={item} nowMs={nowMs} />
      </td>
      <td className="px-4 py-3 text-right">
        {status === 'active' && <RevokeButton item={item} onRevoke={onRevoke} size="sm" />}
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

function KeyCard({ item, licenses, nowMs, onRevoke }: KeyItemProps) {
  const status = statusAt(item, nowMs);
  return (
    <Card className="flex h-full flex-col gap-4">
      <div className="flex items-start justify-between gap-4">
        <h2 className="min-w-0">
          <span className="block font-medium wrap-anywhere">{item.name}</span>
          <KeyPrefix prefix={item.keyPrefix} />
        </h2>
        <KeyStatusBadge status={status} />
      </div>
      <dl className="grid grid-cols-[auto_minmax(0,1fr)] gap-x-4 gap-y-1 [&>dd]:text-right [&>dd>span]:justify-end [&>dt]:text-muted-foreground">
        <dt>License</dt>
        <dd>
          <KeyLicense licenseId={item.licenseId} license={licenseOf(item, licenses)} />
        </dd>
        <dt>Created</dt>
        <dd>
          <Day iso={item.createdAt} />
        </dd>
        <dt>Last used</dt>
        <dd>
          <LastUsed iso={item.lastUsedAt} nowMs={nowMs} />
        </dd>
        <dt>Expires</dt>
        <dd>
          <KeyEnd item={item} nowMs={nowMs} />
        </dd>
      </dl>
      {status === 'active' && <RevokeButton item={item} onRevoke={onRevoke} className="mt-auto w-full" />}
    </Card>
  );
}

interface RevokeButtonProps {
  item: KeyAnswer;
  onRevoke: AskToRevoke;
  size?: 'sm';
  className?: string;
}

function RevokeButton({ item, onRevoke, size, className }: RevokeButtonProps) {
  return (
    <Button
      variant="outline"
      size={size}
      className={className}
      onClick={({ currentTarget }) => onRevoke(item, currentTarget)}
    >
      Revoke <span className="sr-only">{item.name}</span>
    </Button>
  );
}

function licenseOf(key: KeyAnswer, licenses: LicenseAnswer[]): LicenseAnswer | undefined {
  return licenses.find(({ licenseId }) => licenseId === key.licenseId);
}
