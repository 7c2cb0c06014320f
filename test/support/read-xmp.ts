/** What an XMP packet of ours says. */
export interface Xmp {
  digitalSourceType: string;
  software: string;
  /** The JSON of `UserComment`. */
  facts: Record<string, unknown>;
}

const entities: Record<string, string> = { '&lt;': '<', '&gt;': '>', '&amp;': '&' };
/** What may not stand in an XML 1.0 text. */
const notForXml = /[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/u;

/** Reads a packet of the form that both model servers write, and throws on any other. */
export function readXmp(packet: Buffer | undefined): Xmp {
  const xml = new TextDecoder('utf-8', { fatal: true }).decode(packet);
  if (notForXml.test(xml)) throw new Error('a character that XML does not allow');
  const text = (name: string): string => {
    const [, inside, ...more] = xml.split(new RegExp(`</?${name}>`));
    if (inside === undefined || more.length !== 1) throw new Error(`not one ${name}`);
    return inside.replace(/<\/?rdf:[^>]*>/g, '').replace(/&\w+;/g, (entity) => entities[entity]!);
  };
  return {
    digitalSourceType: text('Iptc4xmpExt:DigitalSourceType'),
    software: text('xmp:CreatorTool'),
    facts: JSON.parse(text('exif:UserComment')) as Record<string, unknown>,
  };
}
