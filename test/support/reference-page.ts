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
    async setAccept(type: string): Promise<void> {
      const table = client
        .getByRole('table')
        .filter({ has: page.getByRole('cell', { name: 'content-type' }) });
      // The last row is empty, and gets another below it as soon as it has a name.
      const row = (await table.getByRole('combobox', { name: 'Key' }).count()) - 1;
      await table.getByRole('combobox', { name: 'Key' }).nth(row).fill('accept');
      await table.getByRole('combobox', { name: 'Value' }).nth(row).fill(type);
      // The form's own value is struck through as soon as the new one counts.
      await table.locator('.line-through', { hasText: 'application/json' }).waitFor();
    },
    async send(apiKey: string): Promise<void> {
      await key.fill(apiKey);
      await client.getByRole('button', { name: /^Send/ }).first().click();
    },
  };
}
