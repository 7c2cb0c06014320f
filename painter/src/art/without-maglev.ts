import { setFlagsFromString } from 'node:v8';

/**
 * Turns off Maglev, one of V8's compilers, for the whole process.
 *
 * In Node.js 24.21 its code let two objects share the numbers in them, so a reference image stood in another one's
 * place: in about one of four runs of the model contract's suite on a busy machine, and in none without Maglev. A
 * picture takes about an eighth longer.
 */
setFlagsFromString('--no-maglev');
