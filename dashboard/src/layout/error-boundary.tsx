import { TriangleAlert } from 'lucide-react';
import { Component, useEffect, useState, type ReactNode, useSyncExternalStore } from 'react';
import { LoadError } from '@/lib/lazy-screen.tsx';
import { reload } from '@/lib/reload.ts';
import { NoticePage, ReloadButton } from '@/components/notice-page.tsx';
import { Page } from './page.tsx';

interface Props {
  fallback: ReactNode | ((error: unknown) => ReactNode);
  /** When it changes, the children are rendered again. The path, for instance. */
  resetKey?: string;
  children: ReactNode;
}

interface State {
  failed: boolean;
  error?: unknown;
  resetKey: string | undefined;
}

export class ErrorBoundary extends Component<Props, State> {
  override state: State = { failed: false, resetKey: this.props.resetKey };

  static getDerivedStateFromError(error: unknown): Partial<State> {
    return { failed: true, error };
  }

  static getDerivedStateFromProps({ resetKey }: Props, state: State): Partial<State> | null {
    return resetKey === state.resetKey ? null : { failed: false, resetKey };
  }

  override render(): ReactNode {
    const { fallback, children } = this.props;
    const { failed, error } = this.state;
    if (!failed) return children;
    return typeof fallback === 'function' ? fallback(error) : fallback;
  }
}

/** In place of a screen, inside the shell. */
export function ScreenCrash({ error }: { error: unknown }) {
  const { title, text } = useCrash(error);
  return (
    <Page title={title}>
      <div role="alert" className="grid justify-items-start gap-4">
        <p className="flex max-w-xl items-start gap-3 text-muted-foreground">
          <TriangleAlert aria-hidden className="mt-1 size-4 shrink-0" />
          {text}
        </p>
        <ReloadButton />
      </div>
    </Page>
  );
}

/** In place of everything. */
export function AppCrash({ error }: { error: unknown }) {
  const { title, text } = useCrash(error);
  return (
    <NoticePage title={title} action={<ReloadButton />}>
      {text}
    </NoticePage>
  );
}

/**
 * What to say. A page whose code did not arrive is loaded again by itself: when there is a network again, or at once where
 * there is one, since its files may have been replaced by a newer version. A new page load is what certainly asks again.
 */
function useCrash(error: unknown): { title: string; text: string } {
  const isOnline = useIsOnline();
  const isMissing = error instanceof LoadError;
  const [wasOffline, setWasOffline] = useState(!isOnline);
  if (!isOnline && !wasOffline) setWasOffline(true);
  const mayReload = isMissing && isOnline;
  useEffect(() => {
    if (mayReload && (wasOffline || isFirstReload())) void reload();
  }, [mayReload, wasOffline]);
  if (!isMissing) return { title: 'This page stopped working', text: faultText };
  return isOnline
    ? { title: 'This page could not be loaded', text: missingText }
    : { title: 'You are offline', text: offlineText };
}

const faultText = 'It met a fault. Nothing of your account is affected.';
const missingText =
  'The dashboard can’t be reached, or a newer version of it was just published. Reload the page in a moment. Nothing of your account is affected.';
const offlineText = 'This page was not loaded yet. It comes by itself when you are online again.';

const reloadedKey = 'reloaded-at';

/** Whether the page was not loaded again by itself within the last minute: a page that still fails must not go on for ever. */
function isFirstReload(): boolean {
  try {
    const isFirst = Date.now() - Number(sessionStorage.getItem(reloadedKey) ?? 0) > 60_000;
    if (isFirst) sessionStorage.setItem(reloadedKey, String(Date.now()));
    return isFirst;
  } catch {
    return false;
  }
}

const events = ['online', 'offline'] as const;

function subscribe(listener: () => void): () => void {
  for (const event of events) window.addEventListener(event, listener);
  return () => events.forEach((event) => window.removeEventListener(event, listener));
}

/** Whether this computer has a network, as far as the browser knows. */
function useIsOnline(): boolean {
  return useSyncExternalStore(subscribe, () => navigator.onLine);
}
