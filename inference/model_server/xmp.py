"""What a file says about its picture, in the same words in every format: an XMP packet (ISO 16684-1)."""

import json
import re
from collections.abc import Mapping
from xml.sax.saxutils import escape, unescape

#: IPTC's word for a picture that a model made: http://cv.iptc.org/newscodes/digitalsourcetype/
MADE_BY_A_MODEL = 'http://cv.iptc.org/newscodes/digitalsourcetype/trainedAlgorithmicMedia'

#: Halves of characters, and characters that XML 1.0 does not allow and JSON does not escape.
_NOT_FOR_XML = re.compile('[\ud800-\udfff\ufffe\uffff]')


def xmp_packet(software: str, facts: Mapping[str, object]) -> bytes:
    """
    `DigitalSourceType` says that a model made the picture, `CreatorTool` which one, and `UserComment` holds
    `facts` as JSON.
    """
    lines = (
        '<?xpacket begin="\ufeff" id="W5M0MpCehiHzreSzNTczkc9d"?>',
        '<x:xmpmeta xmlns:x="adobe:ns:meta/">',
        '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">',
        '<rdf:Description rdf:about=""',
        ' xmlns:Iptc4xmpExt="http://iptc.org/std/Iptc4xmpExt/2008-02-29/"',
        ' xmlns:exif="http://ns.adobe.com/exif/1.0/"',
        ' xmlns:xmp="http://ns.adobe.com/xap/1.0/">',
        f'<Iptc4xmpExt:DigitalSourceType>{MADE_BY_A_MODEL}</Iptc4xmpExt:DigitalSourceType>',
        f'<xmp:CreatorTool>{escape(software)}</xmp:CreatorTool>',
        '<exif:UserComment><rdf:Alt><rdf:li xml:lang="x-default">'
        f'{escape(_json(facts))}</rdf:li></rdf:Alt></exif:UserComment>',
        '</rdf:Description>',
        '</rdf:RDF>',
        '</x:xmpmeta>',
        '<?xpacket end="r"?>',
    )
    return '\n'.join(lines).encode()


def read_software(file: bytes) -> str | None:
    """Which model made the picture, as such a packet in its file says; None where there is none."""
    software = re.search(b'<xmp:CreatorTool>([^<]{1,4000})</xmp:CreatorTool>', file)
    if software is None or f'>{MADE_BY_A_MODEL}<'.encode() not in file:
        return None
    return unescape(software[1].decode(errors='replace'))


def _json(facts: Mapping[str, object]) -> str:
    text = json.dumps(facts, ensure_ascii=False, separators=(',', ':'))
    return _NOT_FOR_XML.sub(lambda found: f'\\u{ord(found[0]):04x}', text)
