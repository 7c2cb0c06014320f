/** Where all files of an identity's samples lie. */
export function samplePrefix(identityId: string): string {
  return `samples/${identityId}/`;
}

export function samplePictureKey(identityId: string, sampleId: string): string {
  return `${samplePrefix(identityId)}${sampleId}.webp`;
}

export function sampleThumbnailKey(identityId: string, sampleId: string): string {
  return `${samplePrefix(identityId)}${sampleId}-thumbnail.webp`;
}
