import { QueryClientProvider } from '@tanstack/react-query';
import { lazy, StrictMode, Suspense } from 'react';
import { createRoot } from 'react-dom/client';
import { BrowserRouter } from 'react-router';
import { ApiContext } from './api/api-context.ts';
import { createApi } from './api/client.ts';
import { createQueryClient } from './api/queries.ts';
import type { DashboardConfig } from './api/types.ts';
import { App } from './app.tsx';
import { createSession } from './auth/session.ts';
import { SessionContext } from './auth/session-context.ts';
import { createUserManager, signOutUrl } from './auth/user-manager.ts';
import { Button } from './components/ui/button.tsx';
import { fetchConfig } from './config.ts';
import { ConfigContext } from './config-context.ts';
import './index.css';
import { AppCrash } from './layout/crash-notice.tsx';
import { ErrorBoundary } from './layout/error-boundary.tsx';
import { NoticePage } from './layout/notice-page.tsx';

// Nothing is announced before somebody acts, so the first paint does not wait for it.
const Toaster = lazy(() => import('./layout/toaster.tsx'));

// A page of its own, always loaded as such: what it runs never meets a session.
const Reference = lazy(() => import('./screens/reference/reference-screen.tsx'));
const isReference = /^\/reference\/?$/.test(window.location.pathname);

const root = createRoot(document.getElementById('root')!);

function start(config: DashboardConfig): void {
  const { origin } = window.location;
  const session = createSession({
    users: createUserManager(config, origin),
    signOutUrl: signOutUrl(config, origin),
    leave: (url) => window.location.assign(url),
  });
  // A page that comes back from the browser's memory after the sign-out must not show what it held.
  window.addEventListener('pageshow', ({ persisted }) => {
    if (persisted && session.state().status !== 'active') window.location.reload();
  });
  const api = createApi(config.apiBaseUrl.replace(/\/$/, ''), session);
  root.render(
    <StrictMode>
      <ErrorBoundary fallback={<AppCrash />}>
        <ConfigContext value={config}>
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
          </SessionContext>
        </ConfigContext>
      </ErrorBoundary>
    </StrictMode>,
  );
}

function startReference(config: DashboardConfig): void {
  root.render(
    <StrictMode>
      <ErrorBoundary fallback={<AppCrash />}>
        <ConfigContext value={config}>
          <Suspense>
            <Reference />
          </Suspense>
        </ConfigContext>
      </ErrorBoundary>
    </StrictMode>,
  );
}

function showUnreachable(): void {
  root.render(
    <NoticePage
      title="The dashboard can't start"
      action={<Button onClick={() => window.location.reload()}>Try again</Button>}
    >
      The service can't be reached, or this browser blocks storage for this site. Check your connection and
      your browser's settings, then try again.
    </NoticePage>,
  );
}

fetchConfig()
  .then(isReference ? startReference : start)
  .catch(showUnreachable);
