import { Plus } from 'lucide-react';
import { useEffect, useRef, useState } from 'react';
import { useSearchParams } from 'react-router';
import { useKeys } from '@/api/queries.ts';
import { ErrorState } from '@/components/error-state.tsx';
import { Loading } from '@/components/loading.tsx';
import { Button } from '@/components/ui/button.tsx';
import { Skeleton } from '@/components/ui/skeleton.tsx';
import { Page } from '@/layout/page.tsx';
import { CreateKeyDialog } from './create-key-dialog.tsx';
import { KeyBrowser } from './key-browser.tsx';
import { NoKeys } from './no-keys.tsx';

export default function KeysScreen() {
  const { data: keys, error, isPending, refetch, isFetching } = useKeys();
  const [creating, setCreating] = useCreating();
  const createButton = useRef<HTMLButtonElement>(null);
  const create = (): void => {
    setCreating(true);
    // How many keys a license has may have changed elsewhere since.
    void refetch();
  };
  const button = (
    <Button ref={createButton} onClick={create}>
      <Plus aria-hidden />
      Create key
    </Button>
  );
  const none = keys !== undefined && keys.length === 0;
  return (
    <Page
      title="Keys"
      description="Your programs call the API with a key. Each belongs to one license and spends its credits."
      actions={none ? undefined : button}
    >
      {none && <NoKeys action={button} />}
      {keys !== undefined && keys.length > 0 && <KeyBrowser keys={keys} />}
      {keys === undefined && isPending && <KeysSkeleton />}
      {keys === undefined && error !== null && (
        <ErrorState error={error} onRetry={() => void refetch()} retrying={isFetching} />
      )}
      {creating && (
        <CreateKeyDialog
          keys={keys ?? []}
          onClose={() => setCreating(false)}
          returnFocus={() => createButton.current?.focus()}
        />
      )}
    </Page>
  );
}

/** `/keys?new=1` opens the dialog; the address forgets it, so that going back or reloading does not open it again. */
function useCreating(): [boolean, (creating: boolean) => void] {
  const [parameters, setParameters] = useSearchParams();
  const asked = parameters.get('new') === '1';
  const [creating, setCreating] = useState(asked);
  useEffect(() => {
    if (!asked) return;
    setCreating(true);
    setParameters(
      (now) => {
        now.delete('new');
        return now;
      },
      { replace: true },
    );
  }, [asked, setParameters]);
  return [creating, setCreating];
}

function KeysSkeleton() {
  return (
    <Loading label="Loading your keys">
      <Skeleton className="h-10 w-80 max-w-full" />
      <Skeleton className="h-64" />
    </Loading>
  );
}
