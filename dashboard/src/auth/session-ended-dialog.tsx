import { useState } from 'react';
import { Dialog, DialogFooter } from '@/components/ui/dialog.tsx';
import { Button } from '@/components/ui/button.tsx';
import { useSession } from './session.ts';

/** Lies over the page: leaving at once would lose what was typed. */
export default function SessionEndedDialog() {
  const session = useSession();
  const [failed, setFailed] = useState(false);
  const signIn = (): void => {
    const { pathname, search, hash } = window.location;
    setFailed(false);
    session.signIn(`${pathname}${search}${hash}`).catch(() => setFailed(true));
  };
  return (
    <Dialog
      alert
      title="Your session has ended"
      description="Sign in again to go on; you come back to this page."
    >
      {failed && <p role="alert">The service can’t be reached now. Try again in a moment.</p>}
      <DialogFooter>
        <Button onClick={signIn}>Sign in again</Button>
      </DialogFooter>
    </Dialog>
  );
}
