import { lazy, Suspense, useState, type ComponentType, type ReactNode } from 'react';
import { Outlet, Route, Routes } from 'react-router';
import { TicketX } from 'lucide-react';
import { CallbackPage, RequireSession, SignedOutPage } from './auth/pages.tsx';
import { useSessionState } from './auth/session.ts';
import { ErrorBoundary } from './layout/error-boundary.tsx';
import { NotFound, Page } from './layout/page.tsx';
import { recallDraft } from './lib/drafts.ts';
import { Shell } from './layout/shell.tsx';
import { lazyScreen, type LazyScreen } from './lib/lazy-screen.tsx';
import { EmptyState, ErrorState } from './components/states.tsx';
import { ScreenSkeleton } from './components/loading.tsx';
import { useLicenseChoice } from './license/license-choice.ts';

const SessionEndedDialog = lazyScreen(() => import('./auth/session-ended-dialog.tsx'));
const Account = lazyScreen(() => import('./screens/account/account-screen.tsx'));
const Overview = lazyScreen(() => import('./screens/overview/overview-screen.tsx'));
const History = lazyScreen(() => import('./screens/history/history-screen.tsx'));
const HistoryDetail = lazyScreen(() => import('./screens/history/history-detail-screen.tsx'));
const Compare = lazyScreen(() => import('./screens/history/compare/compare-screen.tsx'));
const Identities = lazyScreen(() => import('./screens/identities/identities-screen.tsx'));
const Identity = lazyScreen(() => import('./screens/identities/identity-screen.tsx'));
const Keys = lazyScreen(() => import('./screens/keys/keys-screen.tsx'));
const Playground = lazyScreen(() => import('./screens/playground/playground-screen.tsx'));
const Quickstart = lazyScreen(() => import('./screens/quickstart/quickstart-screen.tsx'));

const RunWatcher = lazy(() => import('./screens/playground/use-start-run.ts'));

const screensByPath = { '': Overview, keys: Keys, playground: Playground, quickstart: Quickstart };

/** Loads the screen of an address while the sign-in goes on. */
export function preloadScreen(pathname: string): void {
  const [, first = '', second] = pathname.split('/');
  const known: Record<string, LazyScreen | undefined> = screensByPath;
  const withDetails: Record<string, [LazyScreen, LazyScreen] | undefined> = {
    history: [History, second === 'compare' ? Compare : HistoryDetail],
    identities: [Identities, Identity],
  };
  const screen = withDetails[first]?.[second ? 1 : 0] ?? known[first];
  screen?.preload();
}

export function App() {
  return (
    <Routes>
      <Route path="/callback" element={<CallbackPage />} />
      <Route path="/signed-out" element={<SignedOutPage />} />
      <Route element={<RequireSession />}>
        <Route element={<Frame />}>
          <Route element={<Shell />}>
            <Route index element={withLicense('Overview', Overview)} />
            <Route path="history" element={withLicense('History', History)} />
            <Route path="history/compare" element={withLicense('Compare', Compare)} />
            <Route path="history/:requestId" element={withLicense('Request', HistoryDetail)} />
            <Route path="identities" element={withLicense('Identities', Identities)} />
            <Route path="identities/:identityId" element={withLicense('Identity', Identity)} />
            <Route path="keys" element={withLicense('Keys', Keys)} />
            <Route path="playground/:requestId?" element={withLicense('Playground', Playground)} />
            <Route path="quickstart" element={withLicense('Quickstart', Quickstart)} />
            {/* An account without a license has settings, too. */}
            <Route path="account" element={<Account />} />
            <Route path="*" element={<NotFound />} />
          </Route>
        </Route>
      </Route>
    </Routes>
  );
}

/** What was sent before the page was loaded is followed on every screen. Its code is loaded for those who sent something. */
function RunsOfBefore() {
  const [has] = useState(() => Array.isArray(recallDraft('runs').runs));
  if (!has) return null;
  return (
    <ErrorBoundary fallback={null}>
      <Suspense>
        <RunWatcher />
      </Suspense>
    </ErrorBoundary>
  );
}

function Frame() {
  const { status } = useSessionState();
  return (
    <>
      <Outlet />
      <RunsOfBefore />
      {status === 'ended' && (
        <Suspense>
          <SessionEndedDialog />
        </Suspense>
      )}
    </>
  );
}

function withLicense(title: string, Screen: ComponentType) {
  return (
    <RequireLicense title={title}>
      <Screen />
    </RequireLicense>
  );
}

/** Renders a screen once there is a license. `title` is the heading of what is shown instead. */
function RequireLicense({ title, children }: { title: string; children: ReactNode }) {
  const { license, query } = useLicenseChoice();
  if (license !== null) return children;
  if (query.isPending) return <ScreenSkeleton />;
  return (
    <Page title={title}>
      {query.error === null ? (
        <EmptyState icon={TicketX} title="Your account has no license yet">
          It is made when your subscription starts. If you have subscribed, wait a minute and reload this
          page; otherwise ask whoever manages your subscription.
        </EmptyState>
      ) : (
        <ErrorState error={query.error} onRetry={() => void query.refetch()} retrying={query.isFetching} />
      )}
    </Page>
  );
}
