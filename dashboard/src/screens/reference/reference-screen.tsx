import { Suspense, use, useEffect, useRef } from 'react';
import { ProductMark } from '@/components/product-mark.tsx';
import { useConfig } from '@/config-context.ts';
import { productName } from '@/layout/product-name.ts';
import { ScreenSkeleton } from '@/layout/screen-skeleton.tsx';
import { useTheme } from '@/lib/theme.ts';
import { referenceConfiguration } from './configuration.ts';
import { loadScalar } from './load-scalar.ts';

const scalar = loadScalar();

/** The API's document, readable and to be tried out, for everyone: it needs no session, only the reader's own key. */
export default function ReferenceScreen() {
  useEffect(() => {
    document.title = `API reference · ${productName}`;
  }, []);
  return (
    <>
      <nav
        aria-label="Site"
        className="sticky top-0 z-30 flex h-14 items-center gap-3 border-b border-border bg-background px-4 sm:px-6 lg:pr-16"
      >
        <ProductMark className="size-7 shrink-0" />
        <p className="min-w-0 flex-1 truncate font-semibold">API reference</p>
        {/* A page load, not a route: Scalar's styles and code go with the page. */}
        <a href="/" className="shrink-0 font-medium underline-offset-4 hover:underline">
          Dashboard
        </a>
      </nav>
      <Suspense
        fallback={
          <main className="px-4 py-10">
            <ScreenSkeleton />
          </main>
        }
      >
        <Reference />
      </Suspense>
    </>
  );
}

/** Scalar, in an element of its own. */
function Reference() {
  const { createApiReference } = use(scalar);
  const { apiBaseUrl } = useConfig();
  const { theme } = useTheme();
  const element = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const created = createApiReference(element.current!, referenceConfiguration(apiBaseUrl, theme));
    return () => created.destroy();
  }, [createApiReference, apiBaseUrl, theme]);
  return <div ref={element} />;
}
