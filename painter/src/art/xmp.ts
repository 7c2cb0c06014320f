/** IPTC's word for a picture that a model made: http://cv.iptc.org/newscodes/digitalsourcetype/ */
const MADE_BY_A_MODEL = 'http://cv.iptc.org/newscodes/digitalsourcetype/trainedAlgorithmicMedia';

/**
 * An XMP packet (ISO 16684-1): what a file says about its picture, in the same words in every format.
 *
 * `DigitalSourceType` says that a model made it, `CreatorTool` which one, and `UserComment` holds `facts` as JSON.
 */
export function xmpPacket(software: string, facts: Record<string, unknown>): string {
  return [
    '<?xpacket begin="\ufeff" id="W5M0MpCehiHzreSzNTczkc9d"?>',
    '<x:xmpmeta xmlns:x="adobe:ns:meta/">',
    '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">',
    '<rdf:Description rdf:about=""',
    ' xmlns:Iptc4xmpExt="http://iptc.org/std/Iptc4xmpExt/2008-02-29/"',
    ' xmlns:exif="http://ns.adobe.com/exif/1.0/"',
    ' xmlns:xmp="http://ns.adobe.com/xap/1.0/">',
    `<Iptc4xmpExt:DigitalSourceType>${MADE_BY_A_MODEL}</Iptc4xmpExt:DigitalSourceType>`,
    `<xmp:CreatorTool>${asXml(software)}</xmp:CreatorTool>`,
    `<exif:UserComment><rdf:Alt><rdf:li xml:lang="x-default">${asXml(asJson(facts))}</rdf:li></rdf:Alt></exif:UserComment>`,
    '</rdf:Description>',
    '</rdf:RDF>',
    '</x:xmpmeta>',
    '<?xpacket end="r"?>',
  ].join('\n');
}

/** JSON escapes every other character that XML 1.0 does not allow. */
function asJson(facts: Record<string, unknown>): string {
  return JSON.stringify(facts).replace(/[\ufffe\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16)}`);
}

function asXml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
