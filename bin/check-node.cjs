/*
 * Loaded before the programs of `npm run`, and written so that any Node.js reads it: one that is too old would end them with
 * an error about TypeScript's files. Linux and Windows never see the sentence, as Node.js comes with the packages there.
 */
const wanted = 24;
const { node: version } = process.versions;
if (Number.parseInt(version, 10) < wanted) {
  const remedy =
    process.platform === 'darwin'
      ? 'install it, as with "brew install node@' + wanted + '", and put it first in PATH'
      : 'run "npm ci", which brings it, and start the program by "npm run"';
  process.stderr.write(
    'error: Node.js ' + wanted + ' is needed, and this is ' + version + ': ' + remedy + '.\n',
  );
  process.exit(1);
}
