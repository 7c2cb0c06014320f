export type Notice = 'preparing' | 'failed';

/** These pages load nothing. Only their own style is allowed. */
export const noticePolicy =
  "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const texts = {
  preparing: [
    'Preparing the dashboard',
    'A few seconds, on the first start only. This page goes on by itself.',
  ],
  failed: [
    'The dashboard could not be prepared',
    'The API works all the same. To see why, run <code>npm run build</code>; then start the service again.',
  ],
};

/** The page that stands in for a dashboard that is not there. */
export function noticePage(notice: Notice): string {
  const [title, sentence] = texts[notice];
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
${notice === 'preparing' ? '<meta http-equiv="refresh" content="1">' : ''}
<title>${title}</title>
<style>
  :root { color-scheme: light dark; }
  body { margin: 0; min-height: 100vh; display: grid; place-content: center; padding: 24px;
    font: 14px/24px system-ui, sans-serif; background: light-dark(#fafaf9, #0f0f0e); color: light-dark(#171716, #f0efed); }
  main { max-width: 28rem; }
  h1 { margin: 0 0 8px; font-size: 24px; line-height: 32px; font-weight: 600; letter-spacing: -0.01em; }
  p { margin: 0; color: light-dark(#5c5b58, #a5a4a1); }
  code { font: 13px ui-monospace, monospace; }
</style>
</head>
<body><main><h1>${title}</h1><p>${sentence}</p></main></body>
</html>
`;
}
