/** The answer of GET /health, always with status 200: who reads it can tell one part from the other. */
export interface HealthAnswer {
  status: 'ok' | 'degraded';
  api: 'up';
  inference: 'up' | 'down';
}
