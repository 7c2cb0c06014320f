/** Code that a reader copies: each sample is complete, and runs as it is once the key is in the environment. */
export const sampleLanguages = { curl: 'curl', typescript: 'TypeScript', python: 'Python' } as const;
export type SampleLanguage = keyof typeof sampleLanguages;

export interface SampleRequest {
  apiBaseUrl: string;
  /** The JSON body of POST /generate, in the order in which it is shown. */
  body: Record<string, SampleValue>;
}

export type SampleValue = string | number | boolean | SampleReference[];

/** An item of `referenceImages`. */
export type SampleReference = { url: string } | { uploadId: string };

/** To be said wherever code with uploads can be copied. */
export const uploadsNote = 'Uploads are good for an hour. After that, POST /uploads makes new ones.';

/** The same request to POST /generate in each language. The key comes from `IMAGE_API_KEY`, so that none is ever pasted into code. */
export function codeSamples({ apiBaseUrl, body }: SampleRequest): Record<SampleLanguage, string> {
  const url = `${apiBaseUrl}/generate`;
  return {
    curl: curl(url, [
      `  -H 'Content-Type: application/json' \\`,
      `  -d ${shellQuoted(JSON.stringify(body, null, 2).replaceAll('\n', '\n  '))}`,
    ]),
    typescript: typescriptPost(url, body),
    python: pythonPost(url, body),
  };
}

export interface LookUp {
  apiBaseUrl: string;
  requestId: string;
}

/** GET /generate/{requestId} in each language: a stored request, its links signed anew. */
export function lookUpSamples({ apiBaseUrl, requestId }: LookUp): Record<SampleLanguage, string> {
  const url = `${apiBaseUrl}/generate/${encodeURIComponent(requestId)}`;
  return { curl: curl(url), typescript: typescriptGet(url), python: pythonGet(url) };
}

/** `-sS`: no progress bar, but a sentence when the service can't be reached. */
function curl(url: string, more: string[] = []): string {
  const authorization = `  -H "Authorization: Bearer $IMAGE_API_KEY"`;
  return [
    `curl -sS ${shellQuoted(url)} \\`,
    more.length > 0 ? `${authorization} \\` : authorization,
    ...more,
  ].join('\n');
}

function typescriptPost(url: string, body: SampleRequest['body']): string {
  const members = Object.entries(body).flatMap(([name, value]) => [
    ...(holdsUpload(value) ? [`    // ${uploadsNote}`] : []),
    `    ${name}: ${typescriptLiteral(value)},`,
  ]);
  return [
    `const response = await fetch(${JSON.stringify(url)}, {`,
    `  method: "POST",`,
    `  headers: {`,
    `    Authorization: \`Bearer \${process.env.IMAGE_API_KEY}\`,`,
    `    "Content-Type": "application/json",`,
    `    // Sent again with the same value, a request gets the first result and costs nothing more.`,
    `    "Idempotency-Key": crypto.randomUUID(),`,
    `  },`,
    `  body: JSON.stringify({`,
    ...members,
    `  }),`,
    `});`,
    ...typescriptAnswer,
  ].join('\n');
}

function typescriptGet(url: string): string {
  return [
    `const response = await fetch(${JSON.stringify(url)}, {`,
    `  headers: { Authorization: \`Bearer \${process.env.IMAGE_API_KEY}\` },`,
    `});`,
    ...typescriptAnswer,
  ].join('\n');
}

// Some type definitions know nothing of an answer's JSON and call it unknown.
const typescriptAnswer = [
  `const answer: any = await response.json();`,
  `if (!response.ok) throw new Error(\`\${answer.code}: \${answer.error}\`);`,
  `console.log(answer);`,
];

function pythonPost(url: string, body: SampleRequest['body']): string {
  const members = Object.entries(body).flatMap(([name, value]) => [
    ...(holdsUpload(value) ? [`    # ${uploadsNote}`] : []),
    `    ${JSON.stringify(name)}: ${pythonLiteral(value)},`,
  ]);
  return [
    `import json, os, sys, urllib.error, urllib.request, uuid`,
    ``,
    `body = {`,
    ...members,
    `}`,
    `request = urllib.request.Request(`,
    `    ${pythonString(url)},`,
    `    data=json.dumps(body).encode(),`,
    `    headers={`,
    `        "Authorization": "Bearer " + os.environ["IMAGE_API_KEY"],`,
    `        "Content-Type": "application/json",`,
    `        # Sent again with the same value, a request gets the first result and costs nothing more.`,
    `        "Idempotency-Key": str(uuid.uuid4()),`,
    `    },`,
    `)`,
    ...pythonAnswer,
  ].join('\n');
}

function pythonGet(url: string): string {
  return [
    `import json, os, sys, urllib.error, urllib.request`,
    ``,
    `request = urllib.request.Request(`,
    `    ${pythonString(url)},`,
    `    headers={"Authorization": "Bearer " + os.environ["IMAGE_API_KEY"]},`,
    `)`,
    ...pythonAnswer,
  ].join('\n');
}

// urlopen raises on a refusal, and its own message leaves out the service's sentence.
const pythonAnswer = [
  `try:`,
  `    with urllib.request.urlopen(request) as response:`,
  `        print(json.dumps(json.load(response), indent=2))`,
  `except urllib.error.HTTPError as failure:`,
  `    answer = json.load(failure)`,
  `    sys.exit(answer["code"] + ": " + answer["error"])`,
];

/** In single quotes nothing is special to bash or zsh but the quote itself. */
function shellQuoted(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}

function holdsUpload(value: SampleValue): boolean {
  return Array.isArray(value) && value.some((item) => 'uploadId' in item);
}

function typescriptLiteral(value: SampleValue): string {
  if (!Array.isArray(value)) return JSON.stringify(value);
  return listOf(value, (name, text) => `${name}: ${JSON.stringify(text)}`);
}

function pythonLiteral(value: SampleValue): string {
  if (Array.isArray(value))
    return listOf(value, (name, text) => `${pythonString(name)}: ${pythonString(text)}`);
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  return typeof value === 'number' ? String(value) : pythonString(value);
}

/** One item a line, in both languages alike. */
function listOf(items: SampleReference[], member: (name: string, text: string) => string): string {
  const lines = items.map((item) => {
    const members = Object.entries(item).map(([name, text]) => member(name, text));
    return `      { ${members.join(', ')} },`;
  });
  return ['[', ...lines, '    ]'].join('\n');
}

/** JSON's escapes mean the same in Python, except that a pair of surrogates is no character there: none is escaped. */
function pythonString(text: string): string {
  return JSON.stringify(text);
}
