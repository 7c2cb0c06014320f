import { createServer, type IncomingHttpHeaders } from 'node:http';
import { text } from 'node:stream/consumers';
import { Webhook } from 'standardwebhooks';
import { listen } from '../../local/http/server.ts';

export const promptCheckSecret = `whsec_${Buffer.alloc(24, 7).toString('base64')}`;
export const refusedWord = 'weapon';
export const refusedCategory = 'weapons';

/** An operator's own server that checks prompts. Only who signs with the secret is answered, as Standard Webhooks' library has it. */
export function startPromptCheck() {
  const webhook = new Webhook(promptCheckSecret);
  return listen(
    createServer(async (request, response) => {
      const body = await text(request);
      let asked: { prompt: string };
      try {
        asked = webhook.verify(body, singleValues(request.headers)) as typeof asked;
      } catch {
        response.writeHead(401).end();
        return;
      }
      const allowed = !asked.prompt.includes(refusedWord);
      response.end(JSON.stringify({ allowed, ...(!allowed && { categories: [refusedCategory] }) }));
    }),
  );
}

function singleValues(headers: IncomingHttpHeaders): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));
}
