import { fileURLToPath } from 'node:url';
import tailwindcss from '@tailwindcss/vite';
import react from '@vitejs/plugin-react';
import { defineConfig, type Plugin } from 'vite';
import type { DashboardConfig } from '../shared/accounts/dashboard-config.ts';
import { apiPages } from './api-pages.ts';
import { clientPackages } from './client-packages.ts';
import { scalarBuild } from './scalar-build.ts';

/** The local service (`npm start`), to which `npx vite` sends all requests that are not for this app. */
const service = 'http://127.0.0.1:4600';
const servicePaths = '^/(api|oauth2|login|logout|cognito-idp|us-east-1_local|image-generation|packages)\\b';

const port = 5173;

/** In development the page has this server's address, and the proxy leads to the service. */
const configOfService: Plugin = {
  name: 'config-of-service',
  configureServer(server) {
    server.middlewares.use('/config.json', (_req, res, next) => {
      const answer = async (): Promise<void> => {
        const config = (await (await fetch(`${service}/config.json`)).json()) as DashboardConfig;
        config.apiBaseUrl = new URL(config.apiBaseUrl).pathname;
        config.signIn.domainUrl = `http://127.0.0.1:${port}`;
        config.signIn.userPoolsUrl = `http://127.0.0.1:${port}/cognito-idp/`;
        res.setHeader('content-type', 'application/json').end(JSON.stringify(config));
      };
      answer().catch(next);
    });
  },
};

export default defineConfig({
  base: '/',
  plugins: [react(), tailwindcss(), configOfService, scalarBuild(), clientPackages(), apiPages()],
  resolve: { alias: { '@': fileURLToPath(new URL('./src', import.meta.url)) } },
  build: {
    target: 'es2023',
    // The content security policy would have to allow data: URLs.
    assetsInlineLimit: 0,
    chunkSizeWarningLimit: 600,
  },
  server: {
    host: '127.0.0.1',
    port,
    strictPort: true,
    proxy: { [servicePaths]: { target: service } },
  },
});
