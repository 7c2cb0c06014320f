import { routes } from '../routes/routes.ts';
import type { Route } from '../routes/route.ts';
import { basePath } from '../routes/api.ts';
import { forGenerators } from './for-generators.ts';
import { limitExtensions, limitSentences } from './limits.ts';
import { operations, type Operation, type OperationId } from './operations.ts';
import { overview } from './overview.ts';
import { parameters } from './parameters.ts';
import { errorAnswers, headers, responsesOf } from './responses.ts';
import type { Schema } from './schema.ts';
import { contractSchemas, schemaRef } from './schemas.ts';

/** Routes of another format have documents of their own. */
export const documentedRoutes = Object.entries<Route>(routes).filter(([, { apiFormat }]) => !apiFormat) as [
  OperationId,
  Route,
][];

/** What the service is, in one sentence. */
export const serviceSummary = 'Images from named creator systems over HTTP.';

/** One scheme for each: of two that are sent in one header, some tools send both. */
const security: Record<Route['auth'], Schema[]> = {
  key: [{ apiKey: [] }],
  session: [{ session: [] }],
  key_or_session: [{ apiKey: [] }],
  none: [],
};

const securitySchemes: Schema = {
  apiKey: {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'svc_live_…',
    description: 'An API key of an active license. POST /keys makes one.',
  },
  session: {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'JWT',
    description: "A signed-in account's access token of the service's user pool.",
  },
};

/**
 * The API as an OpenAPI 3.1 document, made from the table of routes, the table of errors and the contracts that
 * validate requests. Its server is that of `npm start`: where it is served, it names the service's own.
 * @param contact an e-mail address or a page, of whoever runs the service
 */
export function openApiDocument(contact: string | null = null): Schema {
  const paths: Record<string, Schema> = {};
  const responses: Record<string, Schema> = {};
  for (const [operationId, route] of documentedRoutes) {
    const operation = operations[operationId];
    const path = (paths[route.path] ??= {});
    path[route.method.toLowerCase()] = operationObject(operationId, route, operation);
    for (const { name, response } of responsesOf(operationId, route, operation)) responses[name] = response;
  }
  return forGenerators({
    openapi: '3.1.0',
    info: {
      title: 'Image Generation Service',
      version: '1',
      summary: serviceSummary,
      description: overview,
      contact: {
        name: 'Whoever runs the service',
        ...(contact === null ? {} : { [contact.includes('://') ? 'url' : 'email']: contact }),
      },
      license: { name: 'Apache License 2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: `http://127.0.0.1:4600${basePath}`, description: 'A local service: npm start.' }],
    tags: [
      { name: 'Generating', description: 'Images, and what they are made with.' },
      { name: 'Account', description: 'For a signed-in account alone.' },
      { name: 'Service', description: 'Open to everyone.' },
    ],
    paths,
    components: {
      securitySchemes,
      parameters,
      headers,
      responses,
      examples: errorAnswers,
      schemas: contractSchemas(),
    },
  });
}

function operationObject(operationId: OperationId, route: Route, operation: Operation): Schema {
  const { tag, summary, description, body } = operation;
  const paragraphs = [
    ...(description === undefined ? [] : [description]),
    ...(route.auth === 'key_or_session'
      ? ["A session's access token is taken in place of the API key."]
      : []),
    ...limitSentences(route),
  ];
  return {
    operationId,
    tags: [tag],
    summary,
    ...(paragraphs.length > 0 ? { description: paragraphs.join('\n\n') } : {}),
    security: security[route.auth],
    ...(operation.parameters
      ? { parameters: operation.parameters.map((name) => ({ $ref: `#/components/parameters/${name}` })) }
      : {}),
    ...(body ? { requestBody: requestBody(body) } : {}),
    responses: Object.fromEntries(
      responsesOf(operationId, route, operation).map(({ status, name }) => [
        status,
        { $ref: `#/components/responses/${name}` },
      ]),
    ),
    ...limitExtensions(route),
  };
}

function requestBody({ schema, optional, examples }: NonNullable<Operation['body']>): Schema {
  return {
    required: !optional,
    content: {
      'application/json': {
        schema: schemaRef(schema),
        examples: Object.fromEntries(Object.entries(examples).map(([name, value]) => [name, { value }])),
      },
    },
  };
}
