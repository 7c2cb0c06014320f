import { TriangleAlert } from 'lucide-react';
import { useId, type ReactNode } from 'react';
import type { LicenseAnswer, UsageAnswer, UsageStats } from '@/lib/types.ts';
import { ManagerLinks } from '@/components/states.tsx';
import { Alert } from '@/components/ui/alert.tsx';
import { Badge, Card, CardHeader, CardTitle } from '@/components/ui/card.tsx';
import { Progress } from '@/components/ui/progress.tsx';
import { creditsLeft } from '@/lib/credits.ts';
import { formatCredits, formatNumber, formatUtcDate } from '@/lib/format.ts';
import { useNow } from '@/lib/use-now.ts';
import { LicenseBadge } from '@/license/license-badge.tsx';
import { Time } from '@/components/time.tsx';
import {
  creditStatus,
  creditWarning,
  paceEnd,
  resetMoment,
  resetWait,
  type CreditLevel,
} from './credit-status.ts';
import { planLimits, problemOf, unusableHints } from '@/license/license-message.ts';
import { completedRequests } from './share-rows.ts';

const barClasses: Record<CreditLevel, string> = {
  ok: '',
  near: '*:bg-warning',
  spent: '*:bg-destructive',
};

export function CreditsCard({ license, usage }: { license: LicenseAnswer; usage: UsageAnswer }) {
  const { stats } = usage;
  const titleId = useId();
  const problem = problemOf(license);
  return (
    <Card aria-labelledby={titleId} className="flex flex-col gap-4">
      <CardHeader className="mb-0">
        <CardTitle id={titleId}>Credits</CardTitle>
        {problem === null ? <Badge variant="success">Active</Badge> : <LicenseBadge license={license} />}
      </CardHeader>
      <UsedCredits license={license} stats={stats} titleId={titleId} />
      <CreditNotice license={license} stats={stats} />
      <dl className="mt-2 grid grid-cols-2 gap-x-4 gap-y-6">
        <Stat
          label="Credits left"
          value={formatNumber(creditsLeft(license, stats))}
          hint={license.usable ? <Pace usage={usage} /> : unusableHints[problem!]}
        />
        {problem !== 'ended' && (
          <Stat
            label={license.usable ? 'Resets in' : 'Period ends in'}
            value={resetWait(stats.daysRemaining)}
            hint={<Time iso={stats.billingPeriodEnd}>{resetMoment(stats)}</Time>}
          />
        )}
        {stats.extraRemaining !== undefined && (
          <Stat
            label="Extra credits"
            value={formatNumber(stats.extraRemaining)}
            hint={
              <>
                The first expire{' '}
                <Time iso={stats.extraExpiresAt!}>{formatUtcDate(stats.extraExpiresAt!)}</Time>
              </>
            }
          />
        )}
        <Stat
          label="Requests"
          value={formatNumber(completedRequests(usage))}
          hint="Completed in this period"
        />
        <Stat label="Plan" value={stats.tier} hint={planLimits(license)} />
      </dl>
    </Card>
  );
}

/** When the credits end, where they end before the period. */
function Pace({ usage: { stats, aggregates } }: { usage: UsageAnswer }) {
  const end = paceEnd(stats, aggregates.byDay, useNow());
  return end === null ? 'One per started megapixel' : `At the present pace they end on ${formatUtcDate(end)}`;
}

interface CreditsProps {
  license: LicenseAnswer;
  stats: UsageStats;
}

/** Of a license that is of no use only what was used: a limit would look like credits to spend. */
function UsedCredits({ license, stats, titleId }: CreditsProps & { titleId: string }) {
  const { level, barPercent, percentText } = creditStatus(stats);
  const of = license.usable ? `of ${formatCredits(stats.limit)} used` : 'credits used in this period';
  return (
    <div className="grid gap-3">
      <p className="flex flex-wrap items-baseline justify-between gap-x-4 tabular-nums">
        <span>
          <span className="text-2xl font-semibold tracking-tight">{formatNumber(stats.current)}</span>{' '}
          <span className="text-muted-foreground">{of}</span>
        </span>
        {license.usable && <span className="font-medium">{percentText}</span>}
      </p>
      {license.usable && (
        <Progress
          value={barPercent}
          aria-labelledby={titleId}
          aria-valuetext={`${formatNumber(stats.current)} ${of}, ${percentText}`}
          className={barClasses[level]}
        />
      )}
    </div>
  );
}

function CreditNotice({ license, stats }: CreditsProps) {
  const warning = creditWarning(license, stats);
  if (warning === null) return null;
  const isSpent = creditStatus(stats).level === 'spent';
  return (
    <Alert variant={isSpent ? 'destructive' : 'warning'} icon={TriangleAlert} title={warning.title}>
      <p className="text-pretty">{warning.text}</p>
      {isSpent && <ManagerLinks />}
    </Alert>
  );
}

function Stat({ label, value, hint }: Record<'label' | 'value' | 'hint', ReactNode>) {
  return (
    <div className="grid min-w-0 content-start">
      <dt className="text-muted-foreground">{label}</dt>
      <dd className="text-2xl font-semibold tracking-tight tabular-nums">{value}</dd>
      <dd className="text-xs leading-5 text-muted-foreground tabular-nums">{hint}</dd>
    </div>
  );
}
