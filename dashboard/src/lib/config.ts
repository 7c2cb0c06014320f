import type { DashboardConfig } from './types.ts';
import type { SampleAddresses } from './code-samples.ts';
import { formatCount } from './format.ts';
import { createRequiredContext } from './required-context.ts';

export const [ConfigContext, useConfig] = createRequiredContext<DashboardConfig>('ConfigContext');

export function useSampleAddresses(): SampleAddresses {
  const { apiBaseUrl } = useConfig();
  return { apiBaseUrl, siteUrl: `${location.origin}/` };
}

/** How long requests and their images are kept: `90 days`. */
export function useRetention(): string {
  return formatCount(useConfig().retentionDays, 'day');
}

/** Fetches the configuration of this deployment. @throws Error when it can't be fetched or is malformed. */
export async function fetchConfig(): Promise<DashboardConfig> {
  // The same request as the preload in index.html: its answer is on its way. The service forbids to keep it.
  const response = await fetch('/config.json');
  if (!response.ok) throw new Error(`config.json: ${response.status}`);
  const config: unknown = await response.json();
  if (!isConfig(config)) throw new Error('config.json: shape');
  const { retentionDays, plans } = config;
  // Services of before the options kept everything for 90 days and sold nothing, and do not say so.
  return {
    ...config,
    retentionDays: Number.isInteger(retentionDays) ? retentionDays : 90,
    plans: Array.isArray(plans) ? plans : [],
  };
}

function isConfig(config: unknown): config is DashboardConfig {
  const { apiBaseUrl, signIn } = (config ?? {}) as Partial<DashboardConfig>;
  return [apiBaseUrl, signIn?.issuer, signIn?.clientId, signIn?.domainUrl].every(
    (value) => typeof value === 'string' && value !== '',
  );
}
