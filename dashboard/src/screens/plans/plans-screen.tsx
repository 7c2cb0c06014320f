import { Check, RefreshCw, TicketX } from 'lucide-react';
import { useId, useState, type ReactNode } from 'react';
import { Navigate } from 'react-router';
import type { PlanCard } from '@/lib/types.ts';
import { useAccount } from '@/auth/session.ts';
import { BillingButton, ContactLink, EmptyState } from '@/components/states.tsx';
import { Button, SiteButton } from '@/components/ui/button.tsx';
import { Card, CardTitle } from '@/components/ui/card.tsx';
import { useConfig } from '@/lib/config.ts';
import { formatCount, formatCredits, formatPrice } from '@/lib/format.ts';
import { useLicenseChoice } from '@/license/license-choice.ts';
import { planLimits } from '@/license/license-message.ts';
import { checkoutLink, subscriptionsOf } from '@/license/plans.ts';
import { Page } from '@/layout/page.tsx';

/** What an account without a usable license may subscribe to: in the place of every screen of a license, and where a license has ended. */
export default function PlansScreen() {
  const plans = subscriptionsOf(useConfig().plans);
  const { licenses } = useLicenseChoice();
  if (licenses.some(({ usable }) => usable)) return <Navigate to="/" replace />;
  if (plans.length === 0) {
    return (
      <Page title="No license yet">
        <div className="grid gap-6">
          <EmptyState icon={TicketX} title="Your account has no license yet">
            It is made when your subscription starts. If you have none, ask whoever manages your subscription.
          </EmptyState>
          <Afterwards />
        </div>
      </Page>
    );
  }
  return (
    <Page
      title="Choose a plan"
      description={`Your account has no ${licenses.length === 0 ? 'license yet' : 'license that generates'}. A plan gives it one: credits for images each month, API keys and the playground.`}
    >
      <div className="grid gap-6">
        <ul className="grid gap-4 sm:grid-cols-2 xl:grid-cols-3">
          {plans.map((plan) => (
            <li key={plan.id} className="grid">
              <Plan plan={plan} />
            </li>
          ))}
        </ul>
        <Afterwards />
      </div>
    </Page>
  );
}

function Plan({ plan }: { plan: PlanCard }) {
  const { name, credits, price, currency, tier } = plan;
  const account = useAccount();
  const titleId = useId();
  return (
    <Card aria-labelledby={titleId} className="flex flex-col gap-4">
      <CardTitle id={titleId}>
        <bdi className="wrap-anywhere">{name}</bdi>
      </CardTitle>
      <p className="flex flex-wrap items-baseline gap-x-1">
        <span className="text-2xl font-semibold tracking-tight tabular-nums">
          {formatPrice(price, currency)}
        </span>
        <span className="text-muted-foreground">a month</span>
      </p>
      <ul className="grid flex-1 content-start gap-2">
        <Point>{formatCredits(credits)} a month, one per started megapixel</Point>
        {tier && <Point>{planLimits(tier)}</Point>}
        {tier && <Point>{formatCount(tier.maxInFlight, 'request')} at a time</Point>}
      </ul>
      {account && (
        <SiteButton href={checkoutLink(plan, account.id)} more={` to ${name}`}>
          Subscribe
        </SiteButton>
      )}
    </Card>
  );
}

function Point({ children }: { children: ReactNode }) {
  return (
    <li className="flex gap-2">
      <Check aria-hidden className="mt-0.5 size-4 shrink-0 text-success" />
      <span className="min-w-0 text-pretty">{children}</span>
    </li>
  );
}

/** For those who have paid already, and for those who have a question. */
function Afterwards() {
  const { supportContact } = useConfig();
  const { query } = useLicenseChoice();
  const [hasLooked, setHasLooked] = useState(false);
  return (
    <Card title="Subscribed already?">
      <p className="max-w-2xl text-pretty text-muted-foreground">
        Your license is here within a minute of the payment. One by bank transfer or direct debit may take
        days.
      </p>
      <div className="my-4 flex flex-wrap items-center gap-2">
        <Button
          variant="outline"
          icon={RefreshCw}
          pending={query.isFetching}
          onClick={() => void query.refetch().then(() => setHasLooked(true))}
        >
          Look again
        </Button>
        <BillingButton />
        <span role="status" className="text-muted-foreground">
          {hasLooked && !query.isFetching && 'There is no new license yet.'}
        </span>
      </div>
      {supportContact && (
        <p className="text-pretty text-muted-foreground">
          A question, or no license although you have paid? Write to <ContactLink contact={supportContact} />.
        </p>
      )}
    </Card>
  );
}
