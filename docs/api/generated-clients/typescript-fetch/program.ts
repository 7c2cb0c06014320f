import { Configuration, GeneratingApi, ModelErrorFromJSON, ResponseError, type Generation } from './client';

const { IMAGE_BASE_URL: basePath, IMAGE_API_KEY: accessToken, IMAGE_IDENTITY_ID } = process.env;
const api = new GeneratingApi(new Configuration({ basePath, accessToken }));
const asked = { prompt: 'a calm night', width: 512, height: 512, seed: 4000000000 };
const generationRequest = { ...asked, identityId: IMAGE_IDENTITY_ID! };
try {
  const made = (await api.createGeneration({ generationRequest })) as Generation;
  const read = await api.getGeneration(made);
  console.log(made.requestId, made.seed, read.id, read.seed, read.status);
} catch (refusal) {
  if (!(refusal instanceof ResponseError)) throw refusal;
  console.log(ModelErrorFromJSON(await refusal.response.json()).code);
}
