/** Lets a program do its work to the end when its reader goes away, as in `… | head`: what it still prints is lost. */
export function tolerateClosedPipe(): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
  });
}
