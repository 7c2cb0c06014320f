import tailwindcss from '@tailwindcss/vite';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

/** A running local service (`npm start`), for `npx vite`: everything that is not this app comes from there. */
const service = 'http://127.0.0.1:4600';
const servicePaths = [
  '/api',
  '/oauth2',
  '/login',
  '/logout',
  '/us-east-1_local',
  '/config.json',
  '/image-generation',
];

export default defineConfig({
  base: '/',
  plugins: [react(), tailwindcss()],
  resolve: { alias: { '@': decodeURIComponent(new URL('./src', import.meta.url).pathname) } },
  build: {
    target: 'es2023',
    // A data: URL is a source of its own for a content security policy.
    assetsInlineLimit: 0,
    chunkSizeWarningLimit: 600,
  },
  server: {
    host: '127.0.0.1',
    port: 5173,
    proxy: Object.fromEntries(servicePaths.map((path) => [path, { target: service }])),
  },
});
