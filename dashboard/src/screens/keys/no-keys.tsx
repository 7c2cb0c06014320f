import { KeyRound } from 'lucide-react';
import type { ReactNode } from 'react';
import { Link } from 'react-router';
import { EmptyState } from '@/components/empty-state.tsx';

export function NoKeys({ action }: { action: ReactNode }) {
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
