import type { Page } from 'playwright-core';

/** Goes to an operation of the API reference as its links do: `#tag/generating/GET/identities`. */
export async function openOperation(
  page: Page,
  baseUrl: string,
  summary: string,
  hash: string,
): Promise<void> {
  await page.goto(`${baseUrl}/reference#tag/${hash}`);
  // Scalar is large: on a busy machine its first load takes long.
  await page.getByRole('heading', { level: 3, name: summary, exact: true }).waitFor({ timeout: 120_000 });
}

/** Opens the form that sends requests of an operation such as `get /identities`. */
export async function openClient(page: Page, operation: string) {
  const button = page.getByRole('button', { name: /^Test Request/ }).filter({ hasText: `(${operation})` });
  await button.click();
  const client = page.getByRole('dialog', { name: 'API Client' });
  const key = client.getByLabel('Bearer Token');
  return {
    client,
    async send(apiKey: string): Promise<void> {
      await key.fill(apiKey);
      await client.getByRole('button', { name: /^Send/ }).first().click();
    },
  };
}
