import { CalendarClock, CirclePause } from 'lucide-react';
import type { LicenseAnswer } from '@/api/types.ts';
import { Alert, AlertDescription, AlertTitle } from '@/components/ui/alert.tsx';
import { licenseStanding } from './license-standing.ts';

/** What an ended or suspended license means; nothing for one in good order. */
export function LicenseNotice({ license }: { license: LicenseAnswer }) {
  const standing = licenseStanding(license);
  if (standing === null) return null;
  const Icon = license.usable ? CalendarClock : CirclePause;
  return (
    <Alert variant={license.status === 'past_due' ? 'warning' : 'default'}>
      <Icon aria-hidden />
      <AlertTitle>{standing.title}</AlertTitle>
      <AlertDescription className="max-w-3xl text-pretty">{standing.text}</AlertDescription>
    </Alert>
  );
}
