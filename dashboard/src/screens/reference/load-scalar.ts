import url from 'virtual:scalar';

/** What Scalar's build gives the page. */
export interface Scalar {
  createApiReference(element: HTMLElement, configuration: Readonly<Record<string, unknown>>): ApiReference;
}

export interface ApiReference {
  destroy(): void;
}

/** Runs Scalar's build, which is a classic script. @throws Error when it can't be had. */
export function loadScalar(): Promise<Scalar> {
  return new Promise((resolve, reject) => {
    const script = document.createElement('script');
    script.src = url;
    script.addEventListener('load', () => resolve((window as unknown as { Scalar: Scalar }).Scalar));
    script.addEventListener('error', () => {
      script.remove();
      reject(new Error("Scalar's script can't be loaded."));
    });
    document.head.append(script);
  });
}
