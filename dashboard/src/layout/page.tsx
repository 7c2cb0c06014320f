import { useEffect, useRef, type ReactNode } from 'react';
import { useLocation } from 'react-router';
import { ArrowLeft } from 'lucide-react';
import { productName } from '@/components/product.tsx';
import { LinkButton } from '@/components/ui/button.tsx';
import { cn } from '@/lib/cn.ts';
import { isolated } from '@/lib/text.ts';

interface PageProps {
  title: string;
  description?: ReactNode;
  /** Buttons at the title's right. */
  actions?: ReactNode;
  /** For screens that are made of images. */
  wide?: boolean;
  children?: ReactNode;
}

/** A screen: its only h1, the document's title, and the focus after navigation. */
export function Page({ title, description, actions, wide = false, children }: PageProps) {
  const heading = useRef<HTMLHeadingElement>(null);
  const { pathname, key } = useLocation();
  const first = key === 'default';
  const screen = screenOf(pathname);
  useEffect(() => {
    document.title = `${isolated(title)} · ${productName}`;
  }, [title]);
  useEffect(() => {
    // The first page of a visit does not move the focus.
    if (!first && !isBusy()) heading.current?.focus({ preventScroll: true });
  }, [screen, first]);
  return (
    <div className={cn('mx-auto w-full', wide ? 'max-w-[100rem]' : 'max-w-6xl')}>
      <header className="mb-6 flex flex-wrap items-end justify-between gap-x-6 gap-y-4 lg:mb-8">
        <div className="grid min-w-0 gap-1">
          <h1
            ref={heading}
            tabIndex={-1}
            dir="auto"
            className="text-2xl font-semibold tracking-tight text-balance wrap-anywhere"
          >
            {title}
          </h1>
          {description !== undefined && (
            <p dir="auto" className="max-w-2xl text-pretty text-muted-foreground">
              {description}
            </p>
          )}
        </div>
        {actions !== undefined && <div className="flex flex-wrap items-center gap-2">{actions}</div>}
      </header>
      {children}
    </div>
  );
}

/** Whether a menu, a dialog or a text field is in use. A screen whose code arrives late must not take its focus. */
function isBusy(): boolean {
  const open = document.querySelector('[aria-expanded=true], [role=menu], [role=dialog], [role=alertdialog]');
  return open !== null || document.activeElement?.matches('input, textarea') === true;
}

export function NotFound() {
  return (
    <Page title="There is no such page" description="The address may be mistyped, or the page has moved.">
      <LinkButton to="/">Go to the overview</LinkButton>
    </Page>
  );
}

/** The screen of an address. The playground's runs have addresses of their own, and one screen, which stays as it is. */
export function screenOf(pathname: string): string {
  return pathname.replace(/^\/playground\/.*/, '/playground');
}

/** Above a wide `Page`: the way to the list that it belongs to. */
export function BackLink({ to, children }: { to: string; children: string }) {
  return (
    <div className="mx-auto mb-2 w-full max-w-[100rem]">
      <LinkButton variant="ghost" size="sm" className="-ml-3 text-muted-foreground" to={to} icon={ArrowLeft}>
        {children}
      </LinkButton>
    </div>
  );
}
