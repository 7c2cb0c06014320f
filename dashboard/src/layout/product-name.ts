export const productName = 'Image Generation Service';
