import { Columns2, Images, Sparkles } from 'lucide-react';
import type { IdentityDetail } from '@/lib/types.ts';
import { Time } from '@/components/time.tsx';
import { Button, LinkButton } from '@/components/ui/button.tsx';
import { Badge, Card } from '@/components/ui/card.tsx';
import { formatDate } from '@/lib/format.ts';
import { playgroundAddress } from './included.ts';

interface VersionsProps {
  identity: IdentityDetail;
  /** Whether the chosen license may use it now. */
  isUsable: boolean;
  /** The one whose samples are shown. */
  shown: number | null;
  onShow: (version: number) => void;
}

/** What changed from version to version, the newest first. */
export function VersionsCard({ identity, isUsable, shown, onShow }: VersionsProps) {
  const { id, versions } = identity;
  if (versions.length === 0) return null;
  const other = versions.find(({ active }) => !active);
  return (
    <Card
      title="Versions"
      aside={isUsable && other && <CompareLink id={id} compare={other.version} />}
      className="mt-6"
    >
      <ol role="list" aria-label="Versions" className="-my-4 divide-y divide-border">
        {versions.map(({ version, active, samples, ...facts }) => (
          <li key={version} className="flex flex-wrap items-start justify-between gap-x-6 gap-y-3 py-4">
            <VersionFacts version={version} active={active} {...facts} />
            <div className="flex flex-wrap gap-2">
              {samples.length > 0 && versions.length > 1 && (
                <Button
                  variant="outline"
                  size="sm"
                  aria-pressed={version === shown}
                  onClick={() => onShow(version)}
                  icon={Images}
                  className="aria-pressed:bg-accent"
                >
                  Show samples
                  <span className="sr-only"> of version {version}</span>
                </Button>
              )}
              {isUsable && !active && (
                <LinkButton
                  variant="outline"
                  size="sm"
                  to={playgroundAddress(id, { version })}
                  icon={Sparkles}
                >
                  Use in the playground
                  <span className="sr-only"> version {version}</span>
                </LinkButton>
              )}
            </div>
          </li>
        ))}
      </ol>
    </Card>
  );
}

/** With the active one. */
function CompareLink({ id, compare }: { id: string; compare: number }) {
  return (
    <LinkButton variant="outline" size="sm" to={playgroundAddress(id, { compare })} icon={Columns2}>
      Compare versions
    </LinkButton>
  );
}

type FactsProps = Omit<IdentityDetail['versions'][number], 'samples'>;

function VersionFacts({ version, active, createdAt, note, retiresAt }: FactsProps) {
  return (
    <div className="grid min-w-0 flex-1 basis-64 gap-1">
      <div className="flex flex-wrap items-center gap-2">
        <h3 className="font-medium">Version {version}</h3>
        {active && <Badge variant="success">Active</Badge>}
        {createdAt !== null && (
          <Time iso={createdAt} className="text-xs text-muted-foreground">
            {formatDate(createdAt)}
          </Time>
        )}
      </div>
      {note !== null && (
        <p dir="auto" className="max-w-3xl text-pretty wrap-anywhere">
          {note}
        </p>
      )}
      {retiresAt !== null && (
        <p className="text-xs leading-5 text-warning">
          It can be used until <Time iso={retiresAt} />.
        </p>
      )}
    </div>
  );
}
