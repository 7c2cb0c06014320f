/** Code that a reader copies: each sample is complete, and runs as it is once the key is in the environment. */
export const sampleLanguages = { curl: 'curl', typescript: 'TypeScript', python: 'Python' } as const;
export type SampleLanguage = keyof typeof sampleLanguages;

export interface SampleRequest {
  apiBaseUrl: string;
  /** The JSON body of POST /generate, in the order in which it is shown. */
  body: Record<string, string | number | boolean>;
}

/** The same request to POST /generate in each language. The key comes from `IMAGE_API_KEY`, so that none is ever pasted into code. */
export function codeSamples({ apiBaseUrl, body }: SampleRequest): Record<SampleLanguage, string> {
  const url = `${apiBaseUrl}/generate`;
  return { curl: curl(url, body), typescript: typescript(url, body), python: python(url, body) };
}

function curl(url: string, body: SampleRequest['body']): string {
  return [
    `curl -s ${shellQuoted(url)} \\`,
    `  -H "Authorization: Bearer $IMAGE_API_KEY" \\`,
    `  -H 'Content-Type: application/json' \\`,
    `  -d ${shellQuoted(JSON.stringify(body, null, 2))}`,
  ].join('\n');
}

function typescript(url: string, body: SampleRequest['body']): string {
  return [
    `const response = await fetch(${JSON.stringify(url)}, {`,
    `  method: 'POST',`,
    `  headers: {`,
    `    Authorization: \`Bearer \${process.env.IMAGE_API_KEY}\`,`,
    `    'Content-Type': 'application/json',`,
    `    // A retry with the same key answers with the first result and is never charged again.`,
    `    'Idempotency-Key': crypto.randomUUID(),`,
    `  },`,
    `  body: JSON.stringify(${indented(JSON.stringify(body, null, 2), '  ')}),`,
    `});`,
    `const answer = await response.json();`,
    `if (!response.ok) throw new Error(\`\${answer.code}: \${answer.error}\`);`,
    `console.log(answer.outputs);`,
  ].join('\n');
}

function python(url: string, body: SampleRequest['body']): string {
  const members = Object.entries(body).map(
    ([name, value]) => `    ${JSON.stringify(name)}: ${literal(value)},`,
  );
  return [
    `import json, os, urllib.request, uuid`,
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
    `        # A retry with the same key answers with the first result and is never charged again.`,
    `        "Idempotency-Key": str(uuid.uuid4()),`,
    `    },`,
    `)`,
    `with urllib.request.urlopen(request) as response:`,
    `    print(json.load(response)["outputs"])`,
  ].join('\n');
}

/** In single quotes nothing is special to a POSIX shell but the quote itself. */
function shellQuoted(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}

function literal(value: string | number | boolean): string {
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  return typeof value === 'number' ? String(value) : pythonString(value);
}

/** JSON's escapes mean the same in Python, except that a pair of surrogates is no character there: none is escaped. */
function pythonString(text: string): string {
  return JSON.stringify(text);
}

function indented(text: string, by: string): string {
  return text.replaceAll('\n', `\n${by}`);
}
