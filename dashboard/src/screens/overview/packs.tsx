import { useId } from 'react';
import type { LicenseAnswer } from '@/lib/types.ts';
import { SiteButton } from '@/components/ui/button.tsx';
import { Card, CardTitle } from '@/components/ui/card.tsx';
import { useConfig } from '@/lib/config.ts';
import { formatCredits, formatPrice } from '@/lib/format.ts';
import { checkoutLink, packsFor } from '@/license/plans.ts';

/** Credits that an active license may buy beside its plan's. Renders nothing where there are none to buy. */
export function Packs({ license }: { license: LicenseAnswer }) {
  const packs = packsFor(useConfig().plans, license);
  const titleId = useId();
  if (packs.length === 0) return null;
  return (
    <Card aria-labelledby={titleId}>
      <CardTitle id={titleId}>More credits</CardTitle>
      <p className="mt-1 mb-2 max-w-2xl text-pretty text-muted-foreground">
        Bought once, for this license. They are used when the period’s own credits are, and carry over to the
        next period. They are here within a minute of the payment.
      </p>
      <ul className="divide-y divide-border">
        {packs.map((pack) => (
          <li key={pack.id} className="flex flex-wrap items-center justify-between gap-x-4 gap-y-2 py-3">
            <span className="grid min-w-0">
              <bdi className="font-medium wrap-anywhere">{pack.name}</bdi>
              <span className="text-muted-foreground tabular-nums">
                {formatCredits(pack.credits)} for {formatPrice(pack.price, pack.currency)}
              </span>
            </span>
            <SiteButton
              variant="outline"
              size="sm"
              href={checkoutLink(pack, license.licenseId)}
              more={` ${pack.name}`}
            >
              Buy
            </SiteButton>
          </li>
        ))}
      </ul>
    </Card>
  );
}
