import register from '@scalar/fastify-api-reference';
import type { Plugin } from 'vite';

const name = 'virtual:scalar';
const resolved = `\0${name}`;
const developmentPath = '/scalar.js';

/**
 * Puts Scalar's own build for browsers beside the app's files, unchanged. The script comes from Scalar's plugin for
 * Fastify, which is the package with the fewest dependencies that has it: docs/decisions/0020.
 */
export function scalarBuild(): Plugin {
  let building = true;
  return {
    name: 'scalar-build',
    configResolved: ({ command }) => void (building = command === 'build'),
    configureServer({ middlewares }) {
      middlewares.use(developmentPath, (_req, res) => {
        res.setHeader('content-type', 'text/javascript').end(script());
      });
    },
    resolveId: (id) => (id === name ? resolved : undefined),
    load(id) {
      if (id !== resolved) return undefined;
      if (!building) return `export default ${JSON.stringify(developmentPath)};`;
      const file = this.emitFile({ type: 'asset', name: 'scalar.js', source: script() });
      return `export default import.meta.ROLLUP_FILE_URL_${file};`;
    },
  };
}

/** @throws Error when the plugin serves no script. */
function script(): string {
  let found = '';
  const reply = {
    header: () => reply,
    send: (content: string) => void (found = content),
  };
  const fastify = {
    route({ url, handler }: { url: string; handler: (request: object, answer: typeof reply) => void }) {
      if (url.endsWith('.js')) handler({}, reply);
    },
  };
  register(fastify as never, { configuration: { url: 'openapi.json' } } as never, () => {});
  if (found === '') throw new Error("@scalar/fastify-api-reference did not serve Scalar's script.");
  return found;
}
