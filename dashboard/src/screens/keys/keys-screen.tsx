import { KeyRound, Plus } from 'lucide-react';
import { useEffect, useRef, useState, type ReactNode } from 'react';
import { Link, useSearchParams } from 'react-router';
import { useKeys } from '@/api/queries.ts';
import { Loading, Skeleton } from '@/components/loading.tsx';
import { EmptyState, Loaded, More } from '@/components/states.tsx';
import { Button } from '@/components/ui/button.tsx';
import { Page } from '@/layout/page.tsx';
import { withoutParameters } from '@/lib/parameters.ts';
import { Activity } from './activity.tsx';
import { CreateKeyDialog } from './create-key-dialog.tsx';
import { KeyBrowser } from './key-browser.tsx';
import { RefusedCalls } from './refused-calls.tsx';

export default function KeysScreen() {
  const list = useKeys();
  const { data: keys, hasNextPage: hasMore } = list;
  const [creating, setCreating] = useCreating();
  const createButton = useRef<HTMLButtonElement>(null);
  const create = (): void => {
    setCreating(true);
    // Keys may have been made elsewhere.
    void list.refetch();
  };
  const button = (
    <Button ref={createButton} onClick={create} icon={Plus}>
      Create key
    </Button>
  );
  const none = keys !== undefined && keys.length === 0 && !hasMore;
  return (
    <Page
      title="Keys"
      description="Your programs call the API with a key. Each belongs to one license and spends its credits."
      actions={none ? undefined : button}
    >
      <Loaded query={list} skeleton={<KeysSkeleton />}>
        {(loaded) => (
          <>
            {none ? <NoKeys action={button} /> : <KeyBrowser keys={loaded} hasMore={hasMore} />}
            {hasMore && (
              <div className="mt-6 grid">
                <More list={list} labels={['Show older keys', 'Loading older keys']} />
              </div>
            )}
            <RefusedCalls keys={loaded} />
            <Activity />
          </>
        )}
      </Loaded>
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
    setParameters(withoutParameters('new'), { replace: true });
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

function NoKeys({ action }: { action: ReactNode }) {
  return (
    <EmptyState icon={KeyRound} title="No keys yet" action={action}>
      Create a key to call the API from your own programs. The{' '}
      <Link to="/quickstart" className="underline underline-offset-4 hover:decoration-2">
        quickstart
      </Link>{' '}
      shows the first request.
    </EmptyState>
  );
}
