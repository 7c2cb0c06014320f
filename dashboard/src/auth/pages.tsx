import { LoaderCircle } from 'lucide-react';
import { useEffect, useState } from 'react';
import { Outlet, useLocation, useNavigate } from 'react-router';
import { Button, LinkButton } from '@/components/ui/button.tsx';
import { NoticePage } from '@/components/notice-page.tsx';
import { useSession, useSessionState, type Session, type SignInResult } from './session.ts';

/** Shown between pages, after a short delay: mostly the next page is there before. */
function SigningIn() {
  return (
    <main className="flex min-h-dvh items-center justify-center">
      <h1 className="flex animate-in items-center gap-2 text-sm font-normal text-muted-foreground delay-300 duration-300 fill-mode-both fade-in-0">
        <LoaderCircle aria-hidden className="size-4 animate-spin" />
        Signing in
      </h1>
    </main>
  );
}

/** Sends visitors without a session to the sign-in page, which comes back here, and who signed out to its sign-out. */
export function RequireSession() {
  const session = useSession();
  const { status } = useSessionState();
  const { pathname, search, hash } = useLocation();
  const [failed, setFailed] = useState(false);
  useEffect(() => {
    if (failed || status === 'active' || status === 'ended') return;
    if (status === 'none') rememberReturnPath(pathname);
    const going = status === 'left' ? session.leave() : session.signIn(`${pathname}${search}${hash}`);
    going.catch(() => setFailed(true));
  }, [session, status, failed, pathname, search, hash]);
  if (status === 'active' || status === 'ended') return <Outlet />;
  if (!failed) return <SigningIn />;
  return (
    <NoticePage
      title={status === 'left' ? 'The sign-out is not complete' : 'The sign-in could not be started'}
      action={<Button onClick={() => setFailed(false)}>Try again</Button>}
    >
      {status === 'left'
        ? 'This page has forgotten you, but the service can’t be reached: its sign-in page still knows this browser.'
        : 'The service can’t be reached, or this browser does not allow it. Check your connection, that storage is not blocked for this site, and that its address begins with https.'}
    </NoticePage>
  );
}

// React may run an effect twice, but a code works once.
let completing: { url: string; result: Promise<SignInResult> } | null = null;

function completeOnce(session: Session, url: string): Promise<SignInResult> {
  if (completing?.url !== url) completing = { url, result: session.completeSignIn(url) };
  return completing.result;
}

/** `/callback`: where the sign-in page comes back to. */
export function CallbackPage() {
  const session = useSession();
  const navigate = useNavigate();
  const [sentence, setSentence] = useState<string | null>(null);
  useEffect(() => {
    const complete = async (): Promise<void> => {
      const result = await completeOnce(session, window.location.href);
      if (result.kind === 'refused') return setSentence(result.sentence);
      // For an address that was used before, the start page decides whether a sign-in is needed.
      await navigate(result.kind === 'done' ? result.returnTo : '/', { replace: true });
    };
    void complete();
  }, [session, navigate]);
  if (sentence === null) return <SigningIn />;
  return (
    <NoticePage title="You are not signed in" action={<LinkButton to="/">Sign in again</LinkButton>}>
      {sentence} Sign in again to go on.
    </NoticePage>
  );
}

export function SignedOutPage() {
  return (
    <NoticePage title="You are signed out" action={<LinkButton to="/">Sign in</LinkButton>}>
      This browser no longer has access to your account. The{' '}
      <a href="/reference" className="underline underline-offset-4 hover:decoration-2">
        API reference
      </a>{' '}
      needs no account.
    </NoticePage>
  );
}

const key = 'return-path';

/** Remembers where a sign-in comes back to, so that the screen there is loaded while the sign-in is completed. */
function rememberReturnPath(pathname: string): void {
  try {
    sessionStorage.setItem(key, pathname);
  } catch {
    // It is loaded a little later.
  }
}

/** Where the sign-in that is being completed comes back to. Null on every other page. */
export function recallReturnPath(): string | null {
  return window.location.pathname === '/callback' ? sessionStorage.getItem(key) : null;
}
