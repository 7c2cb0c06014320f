import { CalendarClock, CirclePause } from 'lucide-react';
import { ManagerLinks } from '@/components/states.tsx';
import { Alert } from '@/components/ui/alert.tsx';
import { LinkButton } from '@/components/ui/button.tsx';
import { useConfig, useRetention } from '@/lib/config.ts';
import { isEnded } from './license-badge.tsx';
import { useLicense, useLicenseChoice } from './license-choice.ts';
import { licenseMessage, problemOf } from './license-message.ts';
import { subscriptionsOf } from './plans.ts';

/** Why the chosen license can't generate, or when it will end. Renders nothing where there is nothing to say. */
export function LicenseNotice({ className }: { className?: string }) {
  const license = useLicense();
  const { licenses } = useLicenseChoice();
  const isSold = subscriptionsOf(useConfig().plans).length > 0;
  const offersPlans = isSold && isEnded(license) && !licenses.some(({ usable }) => usable);
  const message = licenseMessage(license, useRetention(), offersPlans);
  if (message === null) return null;
  return (
    <Alert
      className={className}
      variant={license.status === 'past_due' ? 'warning' : 'default'}
      icon={license.usable ? CalendarClock : CirclePause}
      title={message.title}
    >
      <p className="max-w-3xl text-pretty">{message.text}</p>
      <ManagerLinks billing={problemOf(license) !== 'suspended'}>
        {offersPlans && <LinkButton to="/plans">See the plans</LinkButton>}
      </ManagerLinks>
    </Alert>
  );
}
