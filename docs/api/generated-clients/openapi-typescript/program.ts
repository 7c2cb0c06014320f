import createClient from 'openapi-fetch';
import type { components, paths } from './schema';

const { IMAGE_BASE_URL: baseUrl, IMAGE_API_KEY, IMAGE_IDENTITY_ID: identityId = '' } = process.env;
const api = createClient<paths>({ baseUrl, headers: { authorization: `Bearer ${IMAGE_API_KEY}` } });
// Its two required members are a whole request.
const least: components['schemas']['GenerationRequest'] = { identityId, prompt: 'a calm night' };
const body = { ...least, width: 512, height: 512, seed: 4000000000 };
const { data, error } = await api.POST('/generate', { body });
if (error) console.log(error.code);
else {
  const made = data as components['schemas']['Generation'];
  const { data: read } = await api.GET('/generate/{requestId}', { params: { path: made } });
  console.log(made.requestId, made.seed, read!.id, read!.seed, read!.status);
}
