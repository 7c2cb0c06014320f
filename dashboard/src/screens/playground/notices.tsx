import { Info, X, LoaderCircle } from 'lucide-react';
import { type ReactNode, useEffect, useRef } from 'react';
import { Alert } from '@/components/ui/alert.tsx';
import { Button } from '@/components/ui/button.tsx';
import { ErrorState } from '@/components/states.tsx';
import type { Notice, useAsReference } from './use-prefill.ts';
import { chooseIdentity } from './fill-form.ts';
import { formStore } from './stores.ts';
import { useLicense } from '@/license/license-choice.ts';

interface PrefillNoticeProps {
  notice: Notice;
  onDismiss: () => void;
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
        label="Dismiss"
        onClick={onDismiss}
        className="absolute top-3 right-3 !col-start-auto"
        icon={X}
      />
    </Alert>
  );
}

/** Says how a picture becomes a reference image, and offers other identities where one had to be found. */
export function ReferenceNotice({ pending, outcome, retry, dismiss }: ReturnType<typeof useAsReference>) {
  const license = useLicense();
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
              {outcome.others.map((other) => (
                <Button
                  key={other.id}
                  variant="outline"
                  size="sm"
                  onClick={() => {
                    formStore.change(chooseIdentity(formStore.values(), other, license));
                    dismiss();
                    document.querySelector<HTMLElement>('textarea[name=prompt]')?.focus();
                  }}
                >
                  Use <bdi>{other.name}</bdi>
                </Button>
              ))}
            </div>
          )}
        </PrefillNotice>
      )}
    </div>
  );
}
