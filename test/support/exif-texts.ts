const tags = { software: 0x0131, exif: 0x8769, userComment: 0x9286 };
const asciiCode = 'ASCII\0\0\0';

/**
 * `Software` and `UserComment` of an EXIF block, the latter as `parameters`. Reads what the standard (CIPA DC-008,
 * 4.6) says of these two, in either byte order, and throws on anything else.
 */
export function exifTexts(block: Buffer): { Software: string; parameters: string } {
  const tiff = block.toString('latin1', 0, 6) === 'Exif\0\0' ? block.subarray(6) : block;
  const order = tiff.toString('latin1', 0, 2);
  if (order !== 'II' && order !== 'MM') throw new Error('no EXIF');
  const short = (at: number) => (order === 'II' ? tiff.readUInt16LE(at) : tiff.readUInt16BE(at));
  const long = (at: number) => (order === 'II' ? tiff.readUInt32LE(at) : tiff.readUInt32BE(at));

  /** Where a directory's entry with this tag begins. */
  const entry = (directory: number, tag: number): number => {
    for (let i = 0; i < short(directory); i += 1) {
      const at = directory + 2 + i * 12;
      if (short(at) === tag) return at;
    }
    throw new Error(`no tag ${tag}`);
  };
  /** Of text longer than the four bytes that an entry holds itself. */
  const text = (directory: number, tag: number): string => {
    const at = entry(directory, tag);
    const [count, from] = [long(at + 4), long(at + 8)];
    return tiff.toString('latin1', from, from + count);
  };

  const first = long(4);
  const comment = text(long(entry(first, tags.exif) + 8), tags.userComment);
  if (!comment.startsWith(asciiCode)) throw new Error('the comment is not ASCII');
  return {
    Software: text(first, tags.software).replace(/\0$/, ''),
    parameters: comment.slice(asciiCode.length),
  };
}
