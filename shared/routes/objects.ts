/*
 * The objects of the bucket, by what they are. Each is a constant of its own, because the bundler can leave out a route that
 * names one, and not a route that reads a member of an object.
 */
export const generations = 'generations/*';
export const adapters = 'adapters/*';
export const uploads = 'uploads/*';
export const references = 'references/*';
export const samples = 'samples/*';
export const erased = 'erased/*';
export const cancelled = 'cancelled/*';
