import { useState } from 'react';
import { reload } from '@/lib/reload.ts';
import { Button } from './ui/button.tsx';

/** Loads the page again, and says so where it can't be had now. */
export function ReloadButton() {
  const [state, setState] = useState<'trying' | 'failed' | null>(null);
  const press = async (): Promise<void> => {
    setState('trying');
    if (!(await reload())) setState('failed');
  };
  return (
    <>
      <Button pending={state === 'trying'} onClick={() => void press()}>
        Reload the page
      </Button>
      <p role="status" className="mt-2 text-muted-foreground empty:hidden">
        {state === 'failed' && 'The service can’t be reached now. Try again in a moment.'}
      </p>
    </>
  );
}
