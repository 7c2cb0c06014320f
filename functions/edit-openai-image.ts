import { isForm, readForm } from '../shared/openai/form.ts';
import { imagesEndpoint } from '../shared/openai/images-endpoint.ts';
import { checkBody, readJsonBody, singleHeader } from '../shared/http/request.ts';
import * as routes from '../shared/routes/table.ts';

const { maxBodyBytes: maxBytes } = routes.editOpenAiImage;

/** OpenAI's POST /images/edits: POST /generate with reference images, in other words. */
export const handler = imagesEndpoint(routes.editOpenAiImage, {
  isEdit: true,
  read(request) {
    const contentType = singleHeader(request, 'content-type') ?? '';
    if (!isForm(contentType)) return { sent: readJsonBody(request, { maxBytes }), rawBody: request.rawBody };
    checkBody(request, maxBytes);
    const sent = readForm(request.rawBytes, contentType);
    // A form that is sent again has another boundary: what it says is compared, not its bytes.
    return { sent, rawBody: JSON.stringify(sent) };
  },
});
