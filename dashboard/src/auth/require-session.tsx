import { useEffect, useState } from 'react';
import { Outlet, useLocation } from 'react-router';
import { Button } from '@/components/ui/button.tsx';
import { NoticePage } from '@/layout/notice-page.tsx';
import { SigningIn } from './signing-in.tsx';
import { useSession, useSessionState } from './session-context.ts';

/** Sends whoever has no session to the sign-in page at once, and back here afterwards. */
export function RequireSession() {
  const session = useSession();
  const { status } = useSessionState();
  const { pathname, search, hash } = useLocation();
  const [failed, setFailed] = useState(false);
  useEffect(() => {
    if (status === 'none' && !failed) {
      session.signIn(`${pathname}${search}${hash}`).catch(() => setFailed(true));
    }
  }, [session, status, failed, pathname, search, hash]);
  if (status === 'active' || status === 'ended') return <Outlet />;
  if (!failed) return <SigningIn />;
  return (
    <NoticePage
      title="The sign-in could not be started"
      action={<Button onClick={() => setFailed(false)}>Try again</Button>}
    >
      The browser did not allow it. Check that storage is not blocked for this site, and that its address
      begins with https.
    </NoticePage>
  );
}
