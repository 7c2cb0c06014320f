const namedEntities: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

/** Escapes text, control characters included, so that every key comes back from a listing as it was stored. */
export function escapeXml(text: string): string {
  return text.replace(/[&<>"'\p{Cc}\u2028\ufffe\uffff]/gu, (character) => {
    const entity = Object.entries(namedEntities).find(([, plain]) => plain === character);
    return entity ? `&${entity[0]};` : `&#x${character.charCodeAt(0).toString(16).toUpperCase()};`;
  });
}

/** The opposite of `escapeXml`; undefined when the text holds an entity that plain XML does not know. */
export function unescapeXml(text: string): string | undefined {
  let known = true;
  const plain = text.replace(
    /&(?:#x([0-9a-fA-F]{1,6})|#([0-9]{1,7})|([a-z]+));|&/g,
    (_, hex, decimal, name) => {
      const code = hex ? Number.parseInt(hex, 16) : decimal ? Number(decimal) : undefined;
      const character =
        code === undefined
          ? namedEntities[name ?? '']
          : code <= 0x10ffff
            ? String.fromCodePoint(code)
            : undefined;
      known &&= character !== undefined;
      return character ?? '';
    },
  );
  return known ? plain : undefined;
}

/** `<name>text</name>`, the text escaped. */
export function textElement(name: string, text: string | number | boolean): string {
  return `<${name}>${escapeXml(String(text))}</${name}>`;
}

/** A whole document around elements that are XML already. */
export function xmlDocument(root: string, elements: string[], namespace = true): string {
  const xmlns = namespace ? ' xmlns="http://s3.amazonaws.com/doc/2006-03-01/"' : '';
  return `<?xml version="1.0" encoding="UTF-8"?>\n<${root}${xmlns}>${elements.join('')}</${root}>`;
}
