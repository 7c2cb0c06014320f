import { routes } from '../../shared/routes/routes.ts';
import type { MountedRoute } from './gateway.ts';

/** A job's function, imported when it is first called. */
export function importJob(functionName: string): (event: unknown) => Promise<unknown> {
  return async (event) => {
    const { handler } = await import(`../../functions/${functionName}.ts`);
    return handler(event);
  };
}

/** Imports every route's function, once the environment it will read is complete. */
export function importRoutes(): Promise<MountedRoute[]> {
  return Promise.all(
    Object.values(routes).map(async (route) => {
      const module = (await import(`../../functions/${route.functionName}.ts`)) as { handler: unknown };
      return { route, handler: module.handler };
    }),
  );
}
