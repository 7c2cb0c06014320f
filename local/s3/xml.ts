import type { ServerResponse } from 'node:http';

const entities: Record<string, string> = { '&': 'amp', '<': 'lt', '>': 'gt', '"': 'quot', "'": 'apos' };

/** Escapes text, control characters included, so that every key comes back from a listing as it was stored. */
function escapeXml(text: string): string {
  return text.replace(
    /[&<>"'\p{Cc}\u2028\ufffe\uffff]/gu,
    (character) => `&${entities[character] ?? `#x${character.charCodeAt(0).toString(16).toUpperCase()}`};`,
  );
}

/** `<name>text</name>`, the text escaped. */
export function textElement(name: string, text: string | number | boolean): string {
  return `<${name}>${escapeXml(String(text))}</${name}>`;
}

/** Answers with a whole document around elements that are XML already. */
export function sendXml(res: ServerResponse, status: number, root: string, elements: string[]): void {
  const xml = `<?xml version="1.0" encoding="UTF-8"?>\n<${root}>${elements.join('')}</${root}>`;
  const body = Buffer.from(xml);
  res.writeHead(status, { 'content-type': 'application/xml', 'content-length': body.length });
  res.end(body);
}
