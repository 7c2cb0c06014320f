import type { Theme } from '@/lib/theme.ts';
import styles from './reference.css?inline';

/**
 * What Scalar is told. It asks nobody but the API: no fonts, proxy, assistant, telemetry or links into its own services.
 * It remembers no credentials.
 */
export function referenceConfiguration(apiBaseUrl: string, theme: Theme): Record<string, unknown> {
  return {
    // What it calls the document if it can't be had.
    slug: 'openapi.json',
    url: `${apiBaseUrl.replace(/\/$/, '')}/openapi.json`,
    // The document's own is relative to the document.
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
    // Else it follows the system.
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
