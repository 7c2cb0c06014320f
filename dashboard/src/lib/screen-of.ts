/** The screen of an address. The playground's runs have addresses of their own, and one screen, which stays as it is. */
export function screenOf(pathname: string): string {
  return pathname.replace(/^\/playground\/.*/, '/playground');
}
