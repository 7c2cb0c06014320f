import { Agent, request } from 'node:http';

/** One request that a server is measured by, and what its answer must be. */
export interface Target {
  url: string;
  headers: Record<string, string>;
  body: string;
  /** What is wrong with an answer; null for a right one. */
  problem(status: number, body: string): string | null;
}

export interface LoadResult {
  latenciesMs: number[];
  seconds: number;
}

/**
 * Sends requests over kept connections, each client one after another, for a time. Every answer is read and checked.
 * @throws at the first wrong answer: a figure of a server that refuses is of no use.
 */
export async function runLoad(target: Target, concurrency: number, durationMs: number): Promise<LoadResult> {
  const agent = new Agent({ keepAlive: true, maxSockets: concurrency });
  const latenciesMs: number[] = [];
  const begin = performance.now();
  const client = async () => {
    while (performance.now() - begin < durationMs) {
      const sent = performance.now();
      const { status, body } = await send(target, agent);
      latenciesMs.push(performance.now() - sent);
      const problem = target.problem(status, body);
      if (problem !== null)
        throw new Error(`${target.url} answered ${status}, ${problem}: ${body.slice(0, 500)}`);
    }
  };
  try {
    await Promise.all(Array.from({ length: concurrency }, client));
    return { latenciesMs, seconds: (performance.now() - begin) / 1000 };
  } finally {
    agent.destroy();
  }
}

export function send(target: Target, agent?: Agent): Promise<{ status: number; body: string }> {
  return new Promise((resolve, reject) => {
    const headers = { ...target.headers, 'content-length': Buffer.byteLength(target.body) };
    const req = request(target.url, { method: 'POST', headers, ...(agent ? { agent } : {}) }, (res) => {
      let body = '';
      res.setEncoding('utf8');
      res.on('data', (chunk: string) => (body += chunk));
      res.once('end', () => resolve({ status: res.statusCode ?? 0, body }));
      res.once('error', reject);
    });
    req.once('error', reject);
    req.end(target.body);
  });
}

const parsed = (body: string): any => {
  try {
    return JSON.parse(body);
  } catch {
    return {};
  }
};

/** A generation that was stored and charged, with a link that is signed. */
export function generationProblem(status: number, body: string): string | null {
  const { outputs, usage } = parsed(body);
  if (status !== 200) return 'not 200';
  if (usage?.creditsCharged !== 1) return 'without a charge';
  const link = Array.isArray(outputs) ? String(outputs[0]) : '';
  return /[?&]X-Amz-Signature=[0-9a-f]{64}/.test(link) ? null : 'without a signed link';
}

/** An image as OpenAI's API answers it. */
export function openAiProblem(status: number, body: string): string | null {
  if (status !== 200) return 'not 200';
  return String(parsed(body).data?.[0]?.url).startsWith('https://') ? null : 'without an image';
}
