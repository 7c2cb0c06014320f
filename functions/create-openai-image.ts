import { imagesEndpoint } from '../shared/openai/images-endpoint.ts';
import { readJsonBody } from '../shared/http/request.ts';
import * as routes from '../shared/routes/table.ts';

/** OpenAI's POST /images/generations: POST /generate in other words. */
export const handler = imagesEndpoint(routes.createOpenAiImage, {
  isEdit: false,
  read: (request) => ({ sent: readJsonBody(request), rawBody: request.rawBody }),
});
