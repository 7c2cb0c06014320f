/** Made by `scalar-build.ts`: where Scalar's build for browsers is. */
declare module 'virtual:scalar' {
  const url: string;
  export default url;
}
