import * as z from 'zod/mini';

const maxAnswerBytes = 64 * 1024;

/**
 * Reads an answer about a prompt. It may repeat the prompt, so errors quote nothing of it.
 * @throws when it has another status than 200, is too long or has another form.
 */
export async function readVerdict<Schema extends z.ZodMiniType>(
  answer: Response,
  contract: Schema,
): Promise<z.infer<Schema>> {
  if (answer.status !== 200) {
    await answer.body?.cancel();
    throw new Error(`the check answered with status ${answer.status}`);
  }
  const text = await readText(answer);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new Error("the check's answer is no JSON");
  }
  const result = z.safeParse(contract, value);
  if (!result.success) throw new Error("the check's answer has another form than it should have");
  return result.data;
}

async function readText({ body }: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body ?? []) {
    bytes += chunk.length;
    if (bytes > maxAnswerBytes) throw new Error("the check's answer is too long");
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}
