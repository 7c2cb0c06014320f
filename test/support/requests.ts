import type { ApiAnswer, RunningService } from './service.ts';
import { until } from './until.ts';

/** The smallest and quickest picture, so that tests are about everything else. */
export const small = { prompt: 'a quiet test', width: 512, height: 512, numInferenceSteps: 20 };

export function generate(
  service: Pick<RunningService, 'api'>,
  key: string,
  body: Record<string, unknown>,
  headers: Record<string, string> = {},
): Promise<ApiAnswer> {
  return service.api({ path: '/generate', key, body: { ...small, ...body }, headers });
}

export async function stored(service: Pick<RunningService, 'api'>, key: string, id: string): Promise<any> {
  const { body } = await service.api({ path: `/generate/${id}`, key });
  return body;
}

/**
 * Waits until a key's newest stored request has one of these statuses. It asks the list, which has no rate limit.
 * @returns its id.
 */
export async function newestWith(
  service: Pick<RunningService, 'api'>,
  key: string,
  statuses: string[],
  withinMs?: number,
): Promise<string> {
  let newest: { id: string; status: string } | undefined;
  const isSo = async () => {
    const { body } = await service.api({ path: '/generate?limit=1', key });
    newest = body.generations[0];
    return newest !== undefined && statuses.includes(newest.status);
  };
  await until(`the newest request is ${statuses.join(' or ')}`, isSo, withinMs);
  return newest!.id;
}
