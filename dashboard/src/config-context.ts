import { createContext, use } from 'react';
import type { DashboardConfig } from './api/types.ts';

export const ConfigContext = createContext<DashboardConfig | null>(null);

/** Where this build runs; `apiBaseUrl` is what code samples show. */
export function useConfig(): DashboardConfig {
  const config = use(ConfigContext);
  if (config === null) throw new Error('There is no ConfigContext above this component.');
  return config;
}
