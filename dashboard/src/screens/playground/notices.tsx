import { Info, TriangleAlert, X, LoaderCircle } from 'lucide-react';
import { type ReactNode, useEffect, useRef } from 'react';
import type { LicenseAnswer } from '@/lib/types.ts';
import { Alert } from '@/components/ui/alert.tsx';
import { Button } from '@/components/ui/button.tsx';
import { licenseProblem } from '@/license/license-badge.tsx';
import { ErrorState } from '@/components/states.tsx';
import type { Notice } from './use-prefill.ts';
import { formStore } from './stores.ts';
import type { useAsReference } from './references/use-as-reference.ts';

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
        icon={X}
      />
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

/** Says how a picture becomes a reference image, and offers other identities where one had to be found. */
export function ReferenceNotice({ pending, outcome, retry, dismiss }: ReturnType<typeof useAsReference>) {
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => {
    // What was pressed may be far below, beside the picture.
    if (pending) place.current?.focus();
  }, [pending]);
  if (!pending && outcome === null) return null;
  return (
    <div ref={place} tabIndex={-1} className="scroll-mt-20 rounded-lg">
      {outcome === null && (
        <Alert
          role="status"
          icon={LoaderCircle}
          title="The picture is fetched as a reference image…"
          className="[&>svg]:animate-spin"
        />
      )}
      {outcome !== null && 'error' in outcome && <ErrorState error={outcome.error} onRetry={retry} />}
      {outcome !== null && 'title' in outcome && (
        <PrefillNotice notice={outcome} onDismiss={dismiss}>
          {outcome.others.length > 0 && (
            <div className="mt-1 flex flex-wrap gap-2">
              {outcome.others.map(({ id, name }) => (
                <Button
                  key={id}
                  variant="outline"
                  size="sm"
                  onClick={() => {
                    formStore.change({ identityId: id });
                    dismiss();
                    document.querySelector<HTMLElement>('textarea[name=prompt]')?.focus();
                  }}
                >
                  Use <bdi>{name}</bdi>
                </Button>
              ))}
            </div>
          )}
        </PrefillNotice>
      )}
    </div>
  );
}
