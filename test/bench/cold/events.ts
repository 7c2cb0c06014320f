import { jobs, routes, type Route } from '../../../shared/routes.ts';
import { billingEvents } from '../../support/deployed-world.ts';
import { prompt, type Caller } from '../overhead/stub-world.ts';

const allRoutes: Route[] = Object.values(routes);

/** A first request to each function, which it accepts. */
export function firstEvents(caller: Caller): Record<string, unknown> {
  const requests = Object.fromEntries(
    allRoutes.map((route) => [route.functionName, requestEvent(route, caller)]),
  );
  return {
    ...requests,
    [jobs.sweep.functionName]: {},
    [jobs.billingEvents.functionName]: billingEvents('sub_000000000000'),
    [jobs.fetchReferences.functionName]: { requestId: caller.requestId, items: [] },
    'hello world': {},
  };
}

function requestEvent(route: Route, caller: Caller): object {
  const { licenseId, identityId, keyId, requestId } = caller;
  const bodies: Record<string, object> = {
    [routes.createGeneration.functionName]: { identityId, prompt, width: 1024, height: 1024 },
    [routes.createPlaygroundGeneration.functionName]: {
      identityId,
      licenseId,
      prompt,
      width: 1024,
      height: 1024,
    },
    [routes.createKey.functionName]: { licenseId, name: 'bench' },
    [routes.createUpload.functionName]: {},
  };
  const token = route.auth === 'session' ? caller.session : caller.key;
  const headers: Record<string, string> = {
    'content-type': 'application/json',
    ...(route.auth === 'none' ? {} : { authorization: `Bearer ${token}` }),
  };
  const body = bodies[route.functionName];
  const query = route.functionName === routes.getUsage.functionName ? { licenseId } : null;
  return {
    httpMethod: route.method,
    path: route.path.replace('{requestId}', requestId).replace('{keyId}', keyId),
    resource: route.path,
    headers,
    multiValueHeaders: listed(headers),
    queryStringParameters: query,
    multiValueQueryStringParameters: query && listed(query),
    pathParameters: { requestId, keyId },
    body: body === undefined ? null : JSON.stringify(body),
    isBase64Encoded: false,
    requestContext: { requestId: '5f0c3c8e-6a55-4d6b-9b36-9a1b7f6a2c11' },
  };
}

function listed(values: Record<string, string>): Record<string, string[]> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, [value]]));
}
