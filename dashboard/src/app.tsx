import { lazy, Suspense, useState, type ReactNode } from 'react';
import { matchPath, Outlet, Route, Routes } from 'react-router';
import { CallbackPage, RequireSession, SignedOutPage } from './auth/pages.tsx';
import { useSessionState } from './auth/session.ts';
import { ErrorBoundary } from './layout/error-boundary.tsx';
import { NotFound, Page } from './layout/page.tsx';
import { recallDraft } from './lib/drafts.ts';
import { Shell } from './layout/shell.tsx';
import { lazyScreen } from './lib/lazy-screen.tsx';
import { QueryError } from './components/states.tsx';
import { ScreenSkeleton } from './components/loading.tsx';
import { useLicenseChoice } from './license/license-choice.ts';

const SessionEndedDialog = lazyScreen(() => import('./auth/session-ended-dialog.tsx'));
const Account = lazyScreen(() => import('./screens/account/account-screen.tsx'));
const Plans = lazyScreen(() => import('./screens/plans/plans-screen.tsx'));
const RunWatcher = lazy(() => import('./screens/playground/use-start-run.ts'));

/** The screens of a license. Of those that have the form of an address, the first one is shown. */
const screens: [path: string, title: string, load: Parameters<typeof lazyScreen>[0]][] = [
  ['', 'Overview', () => import('./screens/overview/overview-screen.tsx')],
  ['history', 'History', () => import('./screens/history/history-screen.tsx')],
  ['history/compare', 'Compare', () => import('./screens/history/compare/compare-screen.tsx')],
  ['history/:requestId', 'Request', () => import('./screens/history/history-detail-screen.tsx')],
  ['requests', 'Requests', () => import('./screens/requests/requests-screen.tsx')],
  ['identities', 'Identities', () => import('./screens/identities/identities-screen.tsx')],
  ['identities/:identityId', 'Identity', () => import('./screens/identities/identity-screen.tsx')],
  ['keys', 'Keys', () => import('./screens/keys/keys-screen.tsx')],
  ['playground/:requestId?', 'Playground', () => import('./screens/playground/playground-screen.tsx')],
  ['plans', 'Choose a plan', () => import('./screens/plans/plans-screen.tsx')],
  ['quickstart', 'Quickstart', () => import('./screens/quickstart/quickstart-screen.tsx')],
];
const routes = screens.map(([path, title, load]) => ({ path, title, Screen: lazyScreen(load) }));

/** Loads the screen of an address while the sign-in goes on. */
export function preloadScreen(pathname: string): void {
  routes.find(({ path }) => matchPath(`/${path}`, pathname))?.Screen.preload();
}

export function App() {
  return (
    <Routes>
      <Route path="/callback" element={<CallbackPage />} />
      <Route path="/signed-out" element={<SignedOutPage />} />
      <Route element={<RequireSession />}>
        <Route element={<Frame />}>
          <Route element={<Shell />}>
            {routes.map(({ path, title, Screen }) => (
              <Route
                key={path}
                path={path}
                element={
                  <RequireLicense title={title}>
                    <Screen />
                  </RequireLicense>
                }
              />
            ))}
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

/** Renders a screen once there is a license. `title` is the heading of what is shown instead. */
function RequireLicense({ title, children }: { title: string; children: ReactNode }) {
  const { license, query } = useLicenseChoice();
  if (license !== null) return children;
  if (query.isPending) return <ScreenSkeleton />;
  if (query.error === null) return <Plans />;
  return (
    <Page title={title}>
      <QueryError query={query} />
    </Page>
  );
}
