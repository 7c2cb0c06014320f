import { createGeneration, getGeneration, type Generation } from './client';
import { CreateGenerationBody, CreateGenerationResponse, GetGenerationResponse } from './schemas';

const { IMAGE_API_KEY, IMAGE_IDENTITY_ID: identityId } = process.env;
const options = { headers: { authorization: `Bearer ${IMAGE_API_KEY}` } };
const asked = { identityId, prompt: 'a calm night', width: 512, height: 512, seed: 4000000000 };
const answer = await createGeneration(CreateGenerationBody.parse(asked), undefined, options);
if (answer.status === 401) console.log(answer.data.code);
else {
  const made = CreateGenerationResponse.parse(answer.data) as Generation;
  const read = GetGenerationResponse.parse((await getGeneration(made.requestId, options)).data);
  console.log(made.requestId, made.seed, read.id, read.seed, read.status);
}
