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
 * Waits until a key's newest stored request has one of these statuses. It asks the list, so seldom that 15 seconds
 * pass before the list's limit is met; after that it waits for the limit too.
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
    const { status, body } = await service.api({ path: '/generate?limit=1', key });
    newest = status === 429 ? undefined : body.generations[0];
    return newest !== undefined && statuses.includes(newest.status);
  };
  await until(`the newest request is ${statuses.join(' or ')}`, isSo, withinMs, 250);
  return newest!.id;
}
