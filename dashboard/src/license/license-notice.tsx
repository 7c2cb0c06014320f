import { CalendarClock, CirclePause } from 'lucide-react';
import { Alert } from '@/components/ui/alert.tsx';
import { useRetention } from '@/lib/config.ts';
import { useLicense } from './license-choice.ts';
import { licenseMessage } from './license-message.ts';

/** Why the chosen license can't generate, or when it will end. Renders nothing where there is nothing to say. */
export function LicenseNotice({ className }: { className?: string }) {
  const license = useLicense();
  const message = licenseMessage(license, useRetention());
  if (message === null) return null;
  return (
    <Alert
      className={className}
      variant={license.status === 'past_due' ? 'warning' : 'default'}
      icon={license.usable ? CalendarClock : CirclePause}
      title={message.title}
    >
      <p className="max-w-3xl text-pretty">{message.text}</p>
    </Alert>
  );
}
