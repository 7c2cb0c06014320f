import { join } from 'node:path';

/** The folder of the repository, without a slash at its end. Its path may have any character, as a space has `%20` in a URL. */
export const repository = join(import.meta.dirname, '../..');

/** @param path of a file or a folder below the repository's own. @returns its absolute path */
export const inRepository = (path: string): string => join(repository, path);
