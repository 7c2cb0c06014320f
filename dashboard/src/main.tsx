import { QueryClientProvider } from '@tanstack/react-query';
import { lazy, StrictMode, Suspense, type ReactNode } from 'react';
import { createRoot } from 'react-dom/client';
import { BrowserRouter } from 'react-router';
import { ApiContext, createApi } from './api/client.ts';
import { createQueryClient } from './api/queries.ts';
import type { DashboardConfig } from './lib/types.ts';
import { App, preloadScreen } from './app.tsx';
import { createSession, SessionContext } from './auth/session.ts';
import { createUserManager, signOutUrl, tokenRevoker } from './auth/user-manager.ts';
import { ConfigContext, fetchConfig } from './lib/config.ts';
import './index.css';
import { AppCrash, ErrorBoundary } from './layout/error-boundary.tsx';
import { NoticePage, ReloadButton } from './components/notice-page.tsx';
import { recallReturnPath } from './auth/pages.tsx';
import { keepDraftsOf } from './lib/drafts.ts';
import { isReachable } from './lib/reload.ts';
import { lazyScreen } from './lib/lazy-screen.tsx';

// Loaded later: there is nothing to announce before somebody acts.
const Toaster = lazy(() => import('./layout/toaster.tsx'));

// A separate page load, so that Scalar's code never runs beside a session.
const Reference = lazyScreen(() => import('./screens/reference/reference-screen.tsx'));
const isReference = /^\/reference\/?$/.test(window.location.pathname);

const root = createRoot(document.getElementById('root')!);

function start(config: DashboardConfig): void {
  const { origin } = window.location;
  const session = createSession({
    users: createUserManager(config, origin),
    revoke: tokenRevoker(config),
    signOutUrl: signOutUrl(config, origin),
    leave: (url) => window.location.assign(url),
    isReachable,
    // Else the sign-in would be forgotten on its way, and begin for ever.
    keepsSignIn: sessionStorage instanceof Storage,
  });
  session.subscribe(() => keepDraftsOf(session.state()));
  // After the sign-out, the browser's Back button must not show the old page from memory.
  window.addEventListener('pageshow', ({ persisted }) => {
    if (persisted && session.state().status !== 'active') window.location.reload();
  });
  const api = createApi(config.apiBaseUrl.replace(/\/$/, ''), session);
  render(
    config,
    <SessionContext value={session}>
      <ApiContext value={api}>
        <QueryClientProvider client={createQueryClient()}>
          <BrowserRouter>
            <App />
            <ErrorBoundary fallback={null}>
              <Suspense>
                <Toaster />
              </Suspense>
            </ErrorBoundary>
          </BrowserRouter>
        </QueryClientProvider>
      </ApiContext>
    </SessionContext>,
  );
}

function startReference(config: DashboardConfig): void {
  render(
    config,
    <Suspense>
      <Reference />
    </Suspense>,
  );
}

function render(config: DashboardConfig, page: ReactNode): void {
  root.render(
    <StrictMode>
      <ErrorBoundary fallback={(error) => <AppCrash error={error} />}>
        <ConfigContext value={config}>{page}</ConfigContext>
      </ErrorBoundary>
    </StrictMode>,
  );
}

function showUnreachable(): void {
  root.render(
    <NoticePage title="The dashboard can't start" action={<ReloadButton />}>
      The service can't be reached. Check your connection, then try again.
    </NoticePage>,
  );
}

if (!isReference) preloadScreen(recallReturnPath() ?? window.location.pathname);

fetchConfig()
  .then(isReference ? startReference : start)
  .catch(showUnreachable);
