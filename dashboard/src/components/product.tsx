/** The logo. It is decorative, because the product's name stands beside it. */
export function ProductMark({ className }: { className?: string }) {
  return (
    <svg aria-hidden viewBox="0 0 32 32" fill="currentColor" className={className}>
      <path d="M9 3a6 6 0 1 1 0 12A6 6 0 0 1 9 3Z" />
      <path d="M17 3h12a12 12 0 0 1-12 12V3Z" />
      <path d="M3 17h12v12A12 12 0 0 1 3 17Z" />
      <path d="M17 17h12v12H17z" />
    </svg>
  );
}

export const productName = 'Image Generation Service';
