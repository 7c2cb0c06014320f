const baseUrl = { runtime: 'process.env.IMAGE_BASE_URL' };
const output = (target, client) => ({ input: process.env.DOCUMENT, output: { target, client, baseUrl } });
export default { client: output('client.ts', 'fetch'), schemas: output('schemas.ts', 'zod') };
