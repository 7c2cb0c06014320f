import manifest from '../../../clients/typescript/package.json' with { type: 'json' };

/** What npm calls the client: its one name, of which all others are made. */
export const npmName = manifest.name;

const fileName = npmName.replace('@', '').replace('/', '-');

/** Where the dashboard's site has the packages. pip reads a wheel's name, so it has the exact form. */
export const packagePaths = {
  npm: `packages/${fileName}-${manifest.version}.tgz`,
  python: `packages/${fileName.replaceAll('-', '_')}-${manifest.version}-py3-none-any.whl`,
};

/** The lines that install the clients from the dashboard's site, whose address ends in a slash. */
export function installLines(siteUrl: string) {
  return {
    typescript: `npm install ${siteUrl}${packagePaths.npm}`,
    python: `pip install ${siteUrl}${packagePaths.python}`,
  };
}
