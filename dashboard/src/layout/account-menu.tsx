import { CircleUserRound } from 'lucide-react';
import { useAccount } from '@/auth/session-context.ts';
import { lazyMenu } from '@/components/lazy-menu.tsx';
import { Button } from '@/components/ui/button.tsx';

const Dropdown = lazyMenu(() => import('./account-dropdown.tsx'));

/** Shows who is signed in. Its menu has the theme and the sign-out. */
export function AccountMenu({ compact = false }: { compact?: boolean }) {
  const email = useAccount()?.email ?? 'Your account';
  const button = compact ? (
    <Button variant="ghost" size="icon" aria-label="Account" className="-mr-2">
      <CircleUserRound aria-hidden className="size-5" strokeWidth={1.75} />
    </Button>
  ) : (
    <Button variant="ghost" aria-label={`Account, ${email}`} className="w-full justify-start gap-3 px-2">
      <CircleUserRound aria-hidden strokeWidth={1.75} />
      <span className="truncate">{email}</span>
    </Button>
  );
  return <Dropdown trigger={button} />;
}
