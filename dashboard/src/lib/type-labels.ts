import type { GenerationType } from '../api/types.ts';

export const typeLabels: Record<GenerationType, string> = {
  text_to_image: 'Text to image',
  reference: 'Reference images',
  exact_product: 'Exact product',
};
