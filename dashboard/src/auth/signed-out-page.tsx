import { Link } from 'react-router';
import { Button } from '@/components/ui/button.tsx';
import { NoticePage } from '@/layout/notice-page.tsx';

export function SignedOutPage() {
  return (
    <NoticePage
      title="You are signed out"
      action={
        <Button asChild>
          <Link to="/">Sign in</Link>
        </Button>
      }
    >
      This browser no longer has access to your account. The{' '}
      <a href="/reference" className="underline underline-offset-4 hover:decoration-2">
        API reference
      </a>{' '}
      needs no account.
    </NoticePage>
  );
}
