import { createContext, use, useSyncExternalStore } from 'react';
import type { Account, Session, SessionState } from './session.ts';

export const SessionContext = createContext<Session | null>(null);

export function useSession(): Session {
  const session = use(SessionContext);
  if (session === null) throw new Error('There is no SessionContext above this component.');
  return session;
}

export function useSessionState(): SessionState {
  const session = useSession();
  return useSyncExternalStore(session.subscribe, session.state);
}

/** The signed-in account; only below `RequireSession`. */
export function useAccount(): Account | null {
  return useSessionState().account;
}
