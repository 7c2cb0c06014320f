import type { ReactNode } from 'react';
import type { IdentityDetail, LicenseAnswer } from '@/lib/types.ts';
import { CopyButton } from '@/components/copy-button.tsx';
import { Badge, Card } from '@/components/ui/card.tsx';
import { LicenseName } from '@/license/license-badge.tsx';
import { useLicenseChoice } from '@/license/license-choice.ts';
import { licensesWith } from './included.ts';

export function FactsCard({ identity }: { identity: IdentityDetail }) {
  const { licenses } = useLicenseChoice();
  const { id, slug, productPhotos, triggerWords, defaultSize, license, source } = identity;
  return (
    <Card title="Facts">
      <dl className="grid grid-cols-1 gap-4">
        <Fact name="Identity id">
          <span className="flex flex-wrap items-center gap-x-1">
            <code className="text-[0.8125rem] break-all">{id}</code>
            <CopyButton text={id} label="Copy the identity's id" iconOnly />
          </span>
        </Fact>
        <Fact name="Slug">
          <code className="text-[0.8125rem] break-all">{slug}</code>
        </Fact>
        {triggerWords.length > 0 && (
          <Fact name="Trigger words">
            <span className="flex flex-wrap gap-2">
              {triggerWords.map((words) => (
                <Badge key={words} variant="outline" className="h-auto text-foreground whitespace-normal">
                  <bdi className="wrap-anywhere">{words}</bdi>
                </Badge>
              ))}
            </span>
          </Fact>
        )}
        <Fact name="Default size">
          {defaultSize.width} × {defaultSize.height} px
        </Fact>
        <Fact name="Product photos">
          {productPhotos
            ? 'Takes up to 4 reference images of products, and can keep a product exactly as it is.'
            : 'Generates from the prompt alone. It takes no reference images.'}
        </Fact>
        {license !== null && <Fact name="Licence of its model">{textOrLink(license)}</Fact>}
        {source !== null && <Fact name="Source">{textOrLink(source)}</Fact>}
        <Fact name="Included in">
          <Included licenses={licensesWith(identity, licenses)} />
        </Fact>
      </dl>
    </Card>
  );
}

/** Operators write a name or an address. */
function textOrLink(text: string): ReactNode {
  if (!/^https?:\/\/\S+$/.test(text)) return <bdi className="wrap-anywhere">{text}</bdi>;
  return (
    <a
      href={text}
      target="_blank"
      rel="noopener noreferrer"
      className="wrap-anywhere underline underline-offset-4 hover:decoration-2"
    >
      {text}
      <span className="sr-only"> (new tab)</span>
    </a>
  );
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div className="grid min-w-0 gap-1">
      <dt className="text-xs text-muted-foreground">{name}</dt>
      <dd className="min-w-0 text-pretty">{children}</dd>
    </div>
  );
}

function Included({ licenses }: { licenses: readonly LicenseAnswer[] }) {
  if (licenses.length === 0) return 'None of your licenses that can be used now';
  return (
    <ul role="list" className="grid gap-2">
      {licenses.map((license) => (
        <li key={license.licenseId} className="flex min-w-0">
          <LicenseName license={license} compact />
        </li>
      ))}
    </ul>
  );
}
