import { useSyncExternalStore } from 'react';
import { createRequiredContext } from '@/lib/required-context.ts';
import type { Account, Session, SessionState } from './session.ts';

export const [SessionContext, useSession] = createRequiredContext<Session>('SessionContext');

export function useSessionState(): SessionState {
  const session = useSession();
  return useSyncExternalStore(session.subscribe, session.state);
}

/** The signed-in account. Use it below `RequireSession` only. */
export function useAccount(): Account | null {
  return useSessionState().account;
}
