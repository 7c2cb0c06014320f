/** Where a contact leads: a page as it is, an e-mail address to a new mail. */
export function contactHref(contact: string, subject?: string): string {
  if (/^https?:\/\//.test(contact)) return contact;
  return `mailto:${contact}${subject === undefined ? '' : `?subject=${encodeURIComponent(subject)}`}`;
}
