// Does what standard input lists (`Case` in cases.ts) with OpenAI's SDK for JavaScript and with the Vercel AI SDK.
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import { text } from 'node:stream/consumers';

const judges = createRequire(new URL('../judges/package.json', import.meta.url));
const load = async (name) => import(pathToFileURL(judges.resolve(name)).href);
const { default: OpenAI } = await load('openai');

const small = { model: 'aurora', prompt: 'a quiet test', size: '512x512' };

const calls = {
  async images({ client, body, options }) {
    const {
      data,
      response,
      request_id: requestId,
    } = await client.images.generate(body, options).withResponse();
    return { ...data, requestId, replayed: response.headers.get('idempotent-replayed') };
  },
  async twice(input) {
    return [await calls.images(input), await calls.images(input)];
  },
  async 'at-once'(input) {
    // Two wishes that can be told apart: a later try of one that was refused may have an equal one's result.
    const of = (prompt) => calls.images({ ...input, body: { ...input.body, prompt } });
    return Promise.all([of(`${input.body.prompt}, one`), of(`${input.body.prompt}, two`)]);
  },
  async stream({ client, body, options }) {
    const events = [];
    for await (const event of await client.images.generate({ ...body, stream: true }, options))
      events.push(event);
    return events;
  },
  async models({ client }) {
    const models = [];
    for await (const model of client.models.list()) models.push(model);
    return models;
  },
  model: ({ client, body }) => client.models.retrieve(body.model),
  async edit({ client, body, options }) {
    const fileOf = (base64) => new File([Buffer.from(base64, 'base64')], 'photo.png', { type: 'image/png' });
    const { image, mask, ...others } = body;
    const files = image.map(fileOf);
    const sent = {
      ...others,
      image: files.length > 1 ? files : files[0],
      ...(mask && { mask: fileOf(mask) }),
    };
    const answer = await client.images.edit(sent, options);
    if (!body.stream) return answer;
    const events = [];
    for await (const event of answer) events.push(event);
    return events;
  },
  'edit-json': ({ client, body }) => client.post('/images/edits', { body }),
  vary: ({ client }) => client.post('/images/variations', { body: {} }),
  chat: ({ client, body: { model } }) => client.chat.completions.create({ model, messages: [] }),
  async ai({ provider, key, baseUrl, body, extra, headers, maxRetries }) {
    const { generateImage } = await load(provider.endsWith('-6') ? 'ai-6' : 'ai');
    const { createOpenAI, createOpenAICompatible } = await load(`@ai-sdk/${provider}`);
    const settings = { baseURL: baseUrl, apiKey: key };
    const model = createOpenAI
      ? createOpenAI(settings).image(body.model)
      : createOpenAICompatible({ ...settings, name: 'images' }).imageModel(body.model);
    const { prompt, size, n } = body;
    const providerOptions = { [createOpenAI ? 'openai' : 'images']: extra };
    const { images } = await generateImage({ model, prompt, size, n, headers, maxRetries, providerOptions });
    return images.map(({ mediaType, base64 }) => ({ mediaType, base64 }));
  },
};

async function outcomeOf({ call, key, baseUrl, body, extra = {}, headers = {}, maxRetries = 0, provider }) {
  const client = new OpenAI({ baseURL: baseUrl, apiKey: key, maxRetries });
  try {
    const full = { ...small, ...body };
    const input =
      call === 'ai'
        ? { provider, key, baseUrl, body: full, extra, headers, maxRetries }
        : { client, body: { ...full, ...extra }, options: { headers } };
    return { ok: await calls[call](input) };
  } catch (error) {
    const { status = null, code = null, param = null, type = null, requestID = null, message } = error;
    const name = error.constructor.name;
    return {
      error: {
        name,
        status: status ?? error.statusCode ?? null,
        code,
        param,
        type,
        message,
        requestId: requestID,
      },
    };
  }
}

globalThis.AI_SDK_LOG_WARNINGS = false;
const outcomes = {};
for (const one of JSON.parse(await text(process.stdin))) outcomes[one.name] = await outcomeOf(one);
process.stdout.write(JSON.stringify(outcomes));
