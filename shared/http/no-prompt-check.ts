/** Stands in the bundles of a deployment that checks no prompts, which would be a hundredth larger otherwise. */
export const promptCheckOf = (): null => null;
