import { useId } from 'react';
import { useSwitchCreditMails } from '@/api/changes.ts';
import { useAccountSettings } from '@/api/queries.ts';
import { useAccount } from '@/auth/session.ts';
import { BillingButton, ContactLink, ErrorState, QueryError } from '@/components/states.tsx';
import { Card } from '@/components/ui/card.tsx';
import { Switch } from '@/components/ui/switch.tsx';
import { useConfig } from '@/lib/config.ts';
import { Page } from '@/layout/page.tsx';
import { Security } from './security.tsx';

/** What belongs to the account and not to one of its licenses. */
export default function AccountScreen() {
  const { creditMails, billingPortalUrl, supportContact } = useConfig();
  const email = useAccount()?.email;
  return (
    <Page title="Account" description={email}>
      <div className="grid max-w-2xl gap-4">
        {creditMails && <CreditMails />}
        {billingPortalUrl && (
          <Card title="Billing">
            <p className="mb-4 text-pretty text-muted-foreground">
              Change your plan, your payment method and your address, and see your invoices.
            </p>
            <BillingButton />
          </Card>
        )}
        <Security />
        {supportContact && (
          <Card title="Support">
            <p className="text-pretty text-muted-foreground">
              Write to <ContactLink contact={supportContact} />. If a request failed, name its request id.
            </p>
          </Card>
        )}
      </div>
    </Page>
  );
}

function CreditMails() {
  const id = useId();
  const settings = useAccountSettings();
  const change = useSwitchCreditMails();
  if (settings.isError) return <QueryError query={settings} />;
  // While it is being stored, the switch shows what was chosen.
  const checked = change.isPending ? change.variables : settings.data?.creditMails;
  return (
    <Card title="E-mails">
      <div className="flex items-start justify-between gap-4">
        <label htmlFor={id} className="grid gap-1">
          <span className="font-medium">Notify me of used credits</span>
          <span className="text-pretty text-muted-foreground">
            You get an e-mail when a license has used 80% and when it has used all of its credits, once each
            in a billing period.
          </span>
        </label>
        <Switch
          id={id}
          checked={checked ?? false}
          disabled={settings.data === undefined}
          onCheckedChange={(on) => change.mutate(on)}
        />
      </div>
      {change.isError && <ErrorState error={change.error} className="mt-4" />}
    </Card>
  );
}
