import type { DashboardConfig } from './api/types.ts';

/** Fetches where this build runs; the same build runs everywhere. @throws Error when it can't be had. */
export async function fetchConfig(): Promise<DashboardConfig> {
  const response = await fetch('/config.json', { cache: 'no-store', credentials: 'omit' });
  if (!response.ok) throw new Error(`config.json: ${response.status}`);
  const config: unknown = await response.json();
  if (!isConfig(config)) throw new Error('config.json: shape');
  return config;
}

function isConfig(config: unknown): config is DashboardConfig {
  const { apiBaseUrl, signIn } = (config ?? {}) as Partial<DashboardConfig>;
  return [apiBaseUrl, signIn?.issuer, signIn?.clientId, signIn?.domainUrl].every(
    (value) => typeof value === 'string' && value !== '',
  );
}
