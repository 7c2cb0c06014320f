import { describe, expect, test } from '@jest/globals';
import { startQuickContainer } from '../fuzz/quick-container.ts';
import { runToEnd } from '../support/command.ts';
import { generate } from '../support/requests.ts';
import { removeFolder, startService } from '../support/service.ts';

describe('npm start -- --container', () => {
  test('generates with the model container behind that address, not with the painter', async () => {
    const container = await startQuickContainer();
    const service = await startService({ args: ['--container', container.url] });
    try {
      const { keys, identities } = service.ready;
      const { status, body } = await generate(service, keys.pro!, { identityId: identities.aurora });
      expect(status).toBe(200);
      const stored = await service.api({ path: `/generate/${body.requestId}`, key: keys.pro });
      expect(stored.body.modelVersion).toBe('quick-1');
    } finally {
      await service.end();
      await container.close();
      removeFolder(service.dataDir);
    }
  });

  test.each(['', '8080', '127.0.0.1:8080', 'ftp://127.0.0.1', 'http://'])(
    'refuses %j in one sentence',
    async (address) => {
      const { code, stdout, stderr } = await runToEnd(['--container', address]);
      expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
      expect(stderr.trim()).toMatch(/^--container must be an address[^\n]*\.$/);
    },
  );
});
