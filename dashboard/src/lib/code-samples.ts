/** Code that a reader copies: each sample is complete, and runs as it is once the key is in the environment. */
export const sampleLanguages = { curl: 'curl', typescript: 'TypeScript', python: 'Python' } as const;
export type SampleLanguage = keyof typeof sampleLanguages;
export const languages = Object.keys(sampleLanguages) as SampleLanguage[];

export interface SampleRequest {
  apiBaseUrl: string;
  /** The JSON body of POST /generate, in the order in which it is shown. */
  body: Record<string, SampleValue>;
}

export type SampleValue = string | number | boolean | SampleReference[];

/** An item of `referenceImages`. */
export type SampleReference = { url: string } | { uploadId: string };

/** Shown wherever code with uploads can be copied. */
export const uploadsNote = 'Uploads are good for an hour. After that, POST /uploads makes new ones.';

/** The same request to POST /generate in each language. The key comes from `IMAGE_API_KEY`, so that none is ever pasted into code. */
export function codeSamples({ apiBaseUrl, body }: SampleRequest): Record<SampleLanguage, string> {
  const url = `${apiBaseUrl}/generate`;
  const json = JSON.stringify(body, null, 2).replaceAll('\n', '\n  ');
  return {
    curl: `${curl(url)} \\
  -H 'Content-Type: application/json' \\
  -d ${shellQuoted(json)}`,
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
  return {
    curl: curl(url),
    typescript: `const response = await fetch(${JSON.stringify(url)}, {
  headers: { Authorization: \`Bearer \${process.env.IMAGE_API_KEY}\` },
});
${typescriptAnswer}`,
    python: `import json, os, sys, urllib.error, urllib.request

request = urllib.request.Request(
    ${JSON.stringify(url)},
    headers={"Authorization": "Bearer " + os.environ["IMAGE_API_KEY"]},
)
${pythonAnswer}`,
  };
}

/** `-sS`: no progress bar, but a sentence when the service can't be reached. */
function curl(url: string): string {
  return `curl -sS ${shellQuoted(url)} \\
  -H "Authorization: Bearer $IMAGE_API_KEY"`;
}

function typescriptPost(url: string, body: SampleRequest['body']): string {
  const members = Object.entries(body).map(
    ([name, value]) => `${noteOf(value, '//')}    ${name}: ${literal(value, (key) => key)},`,
  );
  return `const response = await fetch(${JSON.stringify(url)}, {
  method: "POST",
  headers: {
    Authorization: \`Bearer \${process.env.IMAGE_API_KEY}\`,
    "Content-Type": "application/json",
    // Sent again with the same value, a request gets the first result and costs nothing more.
    "Idempotency-Key": crypto.randomUUID(),
  },
  body: JSON.stringify({
${members.join('\n')}
  }),
});
${typescriptAnswer}`;
}

// `any`, because some type definitions give JSON the type unknown.
const typescriptAnswer = `const answer: any = await response.json();
if (!response.ok) throw new Error(\`\${answer.code}: \${answer.error}\`);
console.log(answer);`;

/** JSON's strings mean the same in Python, except for pairs of surrogates, which JSON.stringify does not escape. */
function pythonPost(url: string, body: SampleRequest['body']): string {
  const members = Object.entries(body).map(([name, value]) => {
    const written = typeof value === 'boolean' ? (value ? 'True' : 'False') : literal(value, JSON.stringify);
    return `${noteOf(value, '#')}    ${JSON.stringify(name)}: ${written},`;
  });
  return `import json, os, sys, urllib.error, urllib.request, uuid

body = {
${members.join('\n')}
}
request = urllib.request.Request(
    ${JSON.stringify(url)},
    data=json.dumps(body).encode(),
    headers={
        "Authorization": "Bearer " + os.environ["IMAGE_API_KEY"],
        "Content-Type": "application/json",
        # Sent again with the same value, a request gets the first result and costs nothing more.
        "Idempotency-Key": str(uuid.uuid4()),
    },
)
${pythonAnswer}`;
}

// urlopen raises on a refusal, and its own message leaves out the service's sentence.
const pythonAnswer = `try:
    with urllib.request.urlopen(request) as response:
        print(json.dumps(json.load(response), indent=2))
except urllib.error.HTTPError as failure:
    answer = json.load(failure)
    sys.exit(answer["code"] + ": " + answer["error"])`;

/** In single quotes nothing is special to bash or zsh but the quote itself. */
function shellQuoted(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}

/** A line above a member that holds uploads. */
function noteOf(value: SampleValue, comment: string): string {
  const holdsUpload = Array.isArray(value) && value.some((item) => 'uploadId' in item);
  return holdsUpload ? `    ${comment} ${uploadsNote}\n` : '';
}

/** A list has one item a line, in both languages alike. */
function literal(value: SampleValue, nameOf: (key: string) => string): string {
  if (!Array.isArray(value)) return JSON.stringify(value);
  const items = value.map((item) => {
    const members = Object.entries(item).map(([key, text]) => `${nameOf(key)}: ${JSON.stringify(text)}`);
    return `      { ${members.join(', ')} },`;
  });
  return ['[', ...items, '    ]'].join('\n');
}
