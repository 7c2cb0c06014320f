import { installLines, npmName } from './client-packages.ts';
import { escapeBidiControls } from './text.ts';

/** Code that a reader copies: each sample is complete, and runs as it is once the key is in the environment. */
export const sampleLanguages = { curl: 'curl', typescript: 'TypeScript', python: 'Python' } as const;
export type SampleLanguage = keyof typeof sampleLanguages;
export const languages = Object.keys(sampleLanguages) as SampleLanguage[];

export interface SampleAddresses {
  apiBaseUrl: string;
  /** Where the clients are installed from, with a slash at its end. */
  siteUrl: string;
}

export interface SampleRequest extends SampleAddresses {
  /** The JSON body of POST /generate, in the order in which it is shown. */
  body: Record<string, SampleValue>;
}

export type SampleValue = string | number | boolean | SampleReference[];

export type SampleReference = { url: string } | { uploadId: string };

export const defaultPrompt = 'A lighthouse on a quiet coast at dawn';

export const uploadsNote = 'Uploads are good for an hour. After that, POST /uploads makes new ones.';

/** The same request to POST /generate in each language. The key comes from `IMAGE_API_KEY`, so that none is ever pasted into code. */
export function codeSamples({ body, ...addresses }: SampleRequest): Record<SampleLanguage, string> {
  const json = escapeBidiControls(JSON.stringify(body, null, 2)).replaceAll('\n', '\n  ');
  return {
    curl: `${curl(`${addresses.apiBaseUrl}/generate`)} \\
  -H 'Content-Type: application/json' \\
  -H 'Idempotency-Key: sample-${fingerprint(json)}' \\
  -d ${shellQuoted(json)}`,
    typescript: typescriptGenerate(addresses, body),
    python: pythonGenerate(addresses, body),
  };
}

/** A name of a body (FNV-1a, 32 bits): a sample that is run twice is charged once, and one of another body is not refused. */
function fingerprint(text: string): string {
  const hash = new TextEncoder()
    .encode(text)
    .reduce((so, byte) => Math.imul(so ^ byte, 0x01000193), 0x811c9dc5);
  return (hash >>> 0).toString(16).padStart(8, '0');
}

export interface LookUp extends SampleAddresses {
  requestId: string;
}

/** GET /generate/{requestId} in each language: a stored request, its links signed anew. */
export function lookUpSamples({ requestId, ...addresses }: LookUp): Record<SampleLanguage, string> {
  const id = JSON.stringify(requestId);
  return {
    curl: curl(`${addresses.apiBaseUrl}/generate/${encodeURIComponent(requestId)}`),
    typescript: `${typescriptClient(addresses)}
const { status, outputs } = await client.getGeneration(${id});
console.log(status, outputs);`,
    python: `${pythonClient(addresses)}
stored = client.get_generation(${id})
print(stored.status, stored.outputs)`,
  };
}

/** `-sS`: no progress bar, but a sentence when the service can't be reached. */
function curl(url: string): string {
  return `curl -sS ${shellQuoted(url)} \\
  -H "Authorization: Bearer $IMAGE_API_KEY"`;
}

// Both clients take the key from the environment by themselves.
const typescriptClient = ({ apiBaseUrl, siteUrl }: SampleAddresses): string =>
  `// ${installLines(siteUrl).typescript}
import { createClient } from "${npmName}";

const client = createClient({ baseUrl: ${JSON.stringify(apiBaseUrl)} });`;

const pythonClient = ({ apiBaseUrl, siteUrl }: SampleAddresses): string =>
  `# ${installLines(siteUrl).python}
from image_generation import Client

client = Client(base_url=${JSON.stringify(apiBaseUrl)})`;

function typescriptGenerate(addresses: SampleAddresses, body: SampleRequest['body']): string {
  const members = Object.entries(body).map(
    ([name, value]) => `${noteOf(value, '//')}  ${name}: ${literal(value, (key) => `${key}: `)},`,
  );
  const asked = `await client.generate({\n${members.join('\n')}\n});`;
  const lines = isOne(body)
    ? [`const image = ${asked}`, `await image.save("image.${extension(body)}");`]
    : [
        `const { images } = ${asked}`,
        'for (const [i, image] of images.entries()) {',
        `  await image.save(\`image-\${i}.${extension(body)}\`);`,
        '}',
      ];
  return [typescriptClient(addresses), ...lines].join('\n');
}

/** JSON's strings mean the same in Python, except for pairs of surrogates, which are not escaped. */
function pythonGenerate(addresses: SampleAddresses, body: SampleRequest['body']): string {
  const members = Object.entries(body).map(([name, value]) => {
    const isTruth = typeof value === 'boolean';
    const written = isTruth ? (value ? 'True' : 'False') : literal(value, (key) => `"${snakeCase(key)}": `);
    return `${noteOf(value, '#')}    ${snakeCase(name)}=${written},`;
  });
  const asked = `client.generate(\n${members.join('\n')}\n)`;
  const lines = isOne(body)
    ? [`image = ${asked}`, `image.save("image.${extension(body)}")`]
    : [
        `result = ${asked}`,
        'for i, image in enumerate(result.images):',
        `    image.save(f"image-{i}.${extension(body)}")`,
      ];
  return [pythonClient(addresses), ...lines].join('\n');
}

/** How the Python client names a member of the API. */
function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

const isOne = ({ numOutputs = 1 }: SampleRequest['body']): boolean => numOutputs === 1;

function extension({ outputFormat }: SampleRequest['body']): string {
  return typeof outputFormat === 'string' ? outputFormat : 'png';
}

/** In single quotes nothing is special to bash or zsh but the quote itself. */
function shellQuoted(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}

/** A line above a member that holds uploads. */
function noteOf(value: SampleValue, comment: string): string {
  const holdsUpload = Array.isArray(value) && value.some((item) => 'uploadId' in item);
  const indent = comment === '//' ? '  ' : '    ';
  return holdsUpload ? `${indent}${comment} ${uploadsNote}\n` : '';
}

/** A list stays on its line, in both languages alike. */
function literal(value: SampleValue, nameOf: (key: string) => string): string {
  if (!Array.isArray(value)) return escapeBidiControls(JSON.stringify(value));
  const items = value.map((item) => {
    const members = Object.entries(item).map(
      ([key, text]) => nameOf(key) + escapeBidiControls(JSON.stringify(text)),
    );
    return `{ ${members.join(', ')} }`;
  });
  return `[${items.join(', ')}]`;
}
