import { Suspense, use, useEffect, useRef } from 'react';
import scalarUrl from 'virtual:scalar';
import { ScreenSkeleton } from '@/components/loading.tsx';
import { ProductMark, productName } from '@/components/product.tsx';
import { useConfig } from '@/lib/config.ts';
import { LoadError } from '@/lib/lazy-screen.tsx';
import { useTheme, type Theme } from '@/lib/theme.ts';
import styles from './reference.css?inline';

const scalar = loadScalar();

/** The API reference. It needs no session; requests are sent with the reader's own key. */
export default function ReferenceScreen() {
  useEffect(() => {
    document.title = `API reference · ${productName}`;
  }, []);
  return (
    <>
      <nav
        aria-label="Site"
        className="sticky top-0 z-30 short:static flex h-14 items-center gap-3 border-b border-border bg-background px-4 sm:px-6 lg:pr-16"
      >
        <ProductMark className="size-7 shrink-0" />
        <p className="min-w-0 flex-1 truncate font-semibold">API reference</p>
        {/* A page load and not a route, to get rid of Scalar's styles and code. */}
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

function Reference() {
  const { createApiReference } = use(scalar);
  const { apiBaseUrl } = useConfig();
  const theme = useTheme();
  const element = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const created = createApiReference(element.current!, referenceConfiguration(apiBaseUrl, theme));
    return () => created.destroy();
  }, [createApiReference, apiBaseUrl, theme]);
  return <div ref={element} />;
}

interface Scalar {
  createApiReference(element: HTMLElement, configuration: Readonly<Record<string, unknown>>): ApiReference;
}

interface ApiReference {
  destroy(): void;
}

/** Runs Scalar's build, which is a classic script. @throws Error when it can't be had. */
function loadScalar(): Promise<Scalar> {
  return new Promise((resolve, reject) => {
    const script = document.createElement('script');
    script.src = scalarUrl;
    script.addEventListener('load', () => resolve((window as unknown as { Scalar: Scalar }).Scalar));
    script.addEventListener('error', () => {
      script.remove();
      reject(new LoadError("Scalar's script can't be loaded."));
    });
    document.head.append(script);
  });
}

/**
 * Scalar's options. It must send requests to the API only, and load no fonts, proxy, assistant or telemetry. It must
 * not remember credentials.
 */
function referenceConfiguration(apiBaseUrl: string, theme: Theme): Record<string, unknown> {
  const documentUrl = `${apiBaseUrl.replace(/\/$/, '')}/openapi.json`;
  return {
    // The name of the document in Scalar's error message.
    slug: 'openapi.json',
    url: documentUrl,
    fetch: fetchWithIdentity(documentUrl, identityOf(window.location.search)),
    // As in the configuration, whatever name the document was fetched by.
    servers: [{ url: apiBaseUrl }],
    authentication: { preferredSecurityScheme: 'apiKey' },
    persistAuth: false,
    withDefaultFonts: false,
    telemetry: false,
    proxyUrl: '',
    agent: { disabled: true },
    mcp: { disabled: true },
    hideClientButton: true,
    showDeveloperTools: 'never',
    hideDarkModeToggle: true,
    // Without it Scalar follows the system.
    ...(theme === 'system' ? {} : { forceDarkModeState: theme }),
    theme: 'none',
    customCss: styles,
    documentDownloadType: 'json',
    defaultOpenAllTags: true,
    defaultHttpClient: { targetKey: 'shell', clientKey: 'curl' },
    onRequestBuilt: ({ request }: { request: Request }) => withoutCacheHeaders(request),
  };
}

/** Scalar adds these to requests for event streams; the API does not let pages of other origins send them. */
function withoutCacheHeaders({ headers }: Request): void {
  headers.delete('cache-control');
  headers.delete('pragma');
}

/** The parts of the API's document that have examples of bodies. */
interface ApiDocument {
  paths: Record<string, Record<string, Operation>>;
}

interface Operation {
  requestBody?: { content: Record<string, { examples?: Record<string, { value: object }> }> };
}

/** The identity that the dashboard's link names, which its account may use; for others what is to be put there. */
function identityOf(search: string): string {
  const id = new URLSearchParams(search).get('identity');
  return id !== null && /^idn_[0-9A-Za-z]{1,40}$/.test(id) ? id : 'an id of GET /identities';
}

/** Fetches for Scalar. In the API's document an identity takes the place of the made-up ones in examples of bodies. */
function fetchWithIdentity(documentUrl: string, identityId: string): typeof fetch {
  return async (input, init) => {
    const response = await fetch(input, init);
    const url = input instanceof Request ? input.url : String(input);
    if (url !== documentUrl || !response.ok) return response;
    const document = (await response.json()) as ApiDocument;
    for (const { value } of bodyExamples(document)) {
      if ('identityId' in value) value.identityId = identityId;
    }
    return Response.json(document);
  };
}

function bodyExamples({ paths }: ApiDocument): { value: object }[] {
  return Object.values(paths)
    .flatMap((path) => Object.values(path))
    .flatMap(({ requestBody }) => Object.values(requestBody?.content ?? {}))
    .flatMap(({ examples }) => Object.values(examples ?? {}));
}
