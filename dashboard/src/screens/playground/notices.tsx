import { Info, TriangleAlert, X } from 'lucide-react';
import type { ReactNode } from 'react';
import type { LicenseAnswer } from '@/api/types.ts';
import { Alert } from '@/components/ui/alert.tsx';
import { Button } from '@/components/ui/button.tsx';
import { licenseProblem } from '@/license/license-badge.tsx';
import type { Notice } from './use-prefill.ts';

interface PrefillNoticeProps {
  notice: Notice;
  onDismiss: () => void;
  /** Buttons below the sentences. */
  children?: ReactNode;
}

export function PrefillNotice({ notice, onDismiss, children }: PrefillNoticeProps) {
  return (
    <Alert role="status" className="relative pr-14" icon={Info} title={notice.title}>
      {notice.notes.map((note) => (
        <p key={note} dir="auto" className="text-muted-foreground">
          {note}
        </p>
      ))}
      {children}
      <Button
        variant="ghost"
        size="icon-sm"
        aria-label="Dismiss"
        onClick={onDismiss}
        className="absolute top-3 right-3 !col-start-auto"
      >
        <X aria-hidden />
      </Button>
    </Alert>
  );
}

/** Renders nothing for a license that can generate. */
export function LicenseNotice({ license }: { license: LicenseAnswer }) {
  const problem = licenseProblem(license);
  if (license.usable || problem === null) return null;
  return (
    <Alert
      variant={license.status === 'past_due' ? 'warning' : 'default'}
      icon={TriangleAlert}
      title={problemTitle(license)}
    >
      <p>{problemAdvice(license)}</p>
    </Alert>
  );
}

function problemTitle({ status, name, apiAccess }: LicenseAnswer): string {
  if (status === 'past_due') return `The payment for your license “${name}” is past due`;
  if (status === 'ended' || apiAccess) return `Your license “${name}” has ended`;
  return `Your license “${name}” has no API access`;
}

function problemAdvice({ status }: LicenseAnswer): string {
  return status === 'past_due'
    ? 'Images can be made again once it is paid. Everything that you made stays in your history.'
    : 'It makes no new images. Choose another license, or renew this one with whoever manages your subscription. Everything that you made stays in your history.';
}
