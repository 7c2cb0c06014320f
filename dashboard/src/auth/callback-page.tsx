import { useEffect, useState } from 'react';
import { useNavigate } from 'react-router';
import { Button } from '@/components/ui/button.tsx';
import { NoticePage } from '@/layout/notice-page.tsx';
import type { Session, SignInResult } from './session.ts';
import { useSession } from './session-context.ts';
import { SigningIn } from './signing-in.tsx';

// A code works once, and React may run an effect twice.
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
      // Back at an address that was used before: the start page knows whether a sign-in is needed.
      await navigate(result.kind === 'done' ? result.returnTo : '/', { replace: true });
    };
    void complete();
  }, [session, navigate]);
  if (sentence === null) return <SigningIn />;
  return (
    <NoticePage
      title="You are not signed in"
      action={<Button onClick={() => void session.signIn('/')}>Sign in again</Button>}
    >
      {sentence} Sign in again to go on.
    </NoticePage>
  );
}
