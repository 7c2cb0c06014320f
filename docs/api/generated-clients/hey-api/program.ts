import { createGeneration, getGeneration, type Generation } from './client';
import { client } from './client/client.gen';

const { IMAGE_BASE_URL: baseUrl, IMAGE_API_KEY: auth, IMAGE_IDENTITY_ID: identityId = '' } = process.env;
client.setConfig({ baseUrl, auth });
const body = { identityId, prompt: 'a calm night', width: 512, height: 512, seed: 4000000000 };
const { data, error } = await createGeneration({ body });
if (error) console.log(error.code);
else {
  const made = data as Generation;
  const read = (await getGeneration({ path: made, throwOnError: true })).data;
  console.log(made.requestId, made.seed, read.id, read.seed, read.status);
}
