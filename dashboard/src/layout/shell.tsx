import {
  BookOpen,
  ChartNoAxesColumn,
  Images,
  KeyRound,
  ListTree,
  Palette,
  Sparkles,
  SquareTerminal,
  type LucideIcon,
  CircleUserRound,
} from 'lucide-react';
import { lazy, Suspense, useEffect, useRef, useState } from 'react';
import { recallJob, useJob } from '@/api/bulk-job.ts';
import { Link, NavLink, Outlet, useLocation, useNavigationType } from 'react-router';
import { ProductMark, productName } from '@/components/product.tsx';
import { cn } from '@/lib/cn.ts';
import { LicenseSwitcher } from '@/license/license-badge.tsx';
import { ScreenSkeleton } from '@/components/loading.tsx';
import { useAccount } from '@/auth/session.ts';
import { lazyMenu } from '@/components/lazy-menu.tsx';
import { Button } from '@/components/ui/button.tsx';
import { screenOf } from './page.tsx';
import { ErrorBoundary, ScreenCrash } from './error-boundary.tsx';
import { ReferenceLink } from './reference-link.tsx';

interface Place {
  path: string;
  label: string;
  icon: LucideIcon;
  /** Whether phones have no room for it below: other screens lead there. */
  isForWide?: true;
}

const navigation: Place[] = [
  { path: '/', label: 'Overview', icon: ChartNoAxesColumn },
  { path: '/history', label: 'History', icon: Images },
  { path: '/requests', label: 'Requests', icon: ListTree, isForWide: true },
  { path: '/identities', label: 'Identities', icon: Palette },
  { path: '/playground', label: 'Playground', icon: Sparkles },
  { path: '/keys', label: 'Keys', icon: KeyRound },
  { path: '/quickstart', label: 'Quickstart', icon: SquareTerminal },
];

const narrowNavigation = navigation.filter(({ isForWide }) => !isForWide);

/** Navigation around every screen: a sidebar from 1024 px on, bars at top and bottom below. */
export function Shell() {
  const { pathname } = useLocation();
  useScrollToTop(screenOf(pathname));
  return (
    <div className="lg:grid lg:grid-cols-[15rem_minmax(0,1fr)]">
      <a
        href="#main"
        className="sr-only z-50 rounded-md bg-primary px-4 py-2 text-primary-foreground focus:not-sr-only focus:fixed focus:top-2 focus:left-2"
      >
        Skip to the content
      </a>
      <Sidebar />
      <TopBar />
      <main
        id="main"
        tabIndex={-1}
        className="min-w-0 px-4 pt-6 pb-[calc(6.5rem+env(safe-area-inset-bottom))] sm:px-6 lg:px-10 lg:py-10"
      >
        <Job />
        <ErrorBoundary resetKey={pathname} fallback={(error) => <ScreenCrash error={error} />}>
          <Suspense fallback={<ScreenSkeleton />}>
            <Outlet />
          </Suspense>
        </ErrorBoundary>
      </main>
      <BottomBar />
    </div>
  );
}

const BulkJobPanel = lazy(() => import('./bulk-job-panel.tsx'));

/** A job goes on over screens, and after a reload. */
function Job() {
  useState(recallJob);
  if (useJob() === null) return null;
  return (
    <ErrorBoundary fallback={null}>
      <Suspense>
        <BulkJobPanel />
      </Suspense>
    </ErrorBoundary>
  );
}

const sidebarLink = 'flex h-10 items-center gap-3 rounded-md px-2 text-sm font-medium transition-colors';
const sidebarLinkElsewhere = 'text-muted-foreground hover:bg-accent/60 hover:text-foreground';

function Sidebar() {
  return (
    <header className="sticky top-0 z-30 hidden h-dvh flex-col gap-6 border-r border-border p-4 lg:flex">
      <Link to="/" className="flex h-10 items-center gap-3 rounded-md px-2 text-sm leading-4 font-semibold">
        <ProductMark className="size-6 shrink-0" />
        {productName}
      </Link>
      <LicenseSwitcher />
      <nav aria-label="Main">
        <ul className="grid gap-1">
          {navigation.map(({ path, label, icon: Icon }) => (
            <li key={path}>
              <NavLink
                to={path}
                end={path === '/'}
                className={({ isActive }) =>
                  cn(sidebarLink, isActive ? 'bg-accent text-foreground' : sidebarLinkElsewhere)
                }
              >
                <Icon aria-hidden strokeWidth={1.75} className="size-4" />
                {label}
              </NavLink>
            </li>
          ))}
          <li>
            <ReferenceLink className={cn(sidebarLink, sidebarLinkElsewhere)}>
              <BookOpen aria-hidden strokeWidth={1.75} className="size-4" />
              API reference
            </ReferenceLink>
          </li>
        </ul>
      </nav>
      <div className="mt-auto">
        <AccountMenu />
      </div>
    </header>
  );
}

function TopBar() {
  return (
    <header className="sticky top-0 z-30 flex h-14 short:static items-center gap-3 border-b border-border bg-background px-4 sm:px-6 lg:hidden">
      <Link to="/" aria-label={`${productName}, overview`} className="rounded-md">
        <ProductMark className="size-7" />
      </Link>
      <div className="min-w-0 flex-1">
        <LicenseSwitcher compact />
      </div>
      <AccountMenu compact />
    </header>
  );
}

function BottomBar() {
  return (
    <nav
      aria-label="Main"
      className="fixed inset-x-0 bottom-0 z-30 border-t border-border bg-background pb-[env(safe-area-inset-bottom)] lg:hidden"
    >
      <ul className="mx-auto grid max-w-2xl grid-cols-6">
        {narrowNavigation.map(({ path, label, icon: Icon }) => (
          <li key={path}>
            <NavLink
              to={path}
              end={path === '/'}
              className={({ isActive }) =>
                cn(
                  'flex h-16 flex-col items-center justify-center gap-1 rounded-md text-[0.6875rem] leading-4 font-medium focus-visible:-outline-offset-2',
                  isActive ? 'text-foreground' : 'text-muted-foreground',
                )
              }
            >
              {({ isActive }) => (
                <>
                  <Icon aria-hidden strokeWidth={isActive ? 2.25 : 1.75} className="size-5" />
                  {/* Six names have no room on the narrowest phones. The icons keep them for screen readers. */}
                  <span className="max-[375px]:sr-only">{label}</span>
                </>
              )}
            </NavLink>
          </li>
        ))}
      </ul>
    </nav>
  );
}

/** For another screen. Not when going back: the browser restores that place itself. */
function useScrollToTop(screen: string): void {
  const how = useNavigationType();
  const before = useRef(screen);
  useEffect(() => {
    if (screen !== before.current && how !== 'POP') window.scrollTo(0, 0);
    before.current = screen;
  }, [screen, how]);
}

const Dropdown = lazyMenu(() => import('./account-dropdown.tsx'));

/** Shows who is signed in. Its menu has the theme and the sign-out. */
function AccountMenu({ compact = false }: { compact?: boolean }) {
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
