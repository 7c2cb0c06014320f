/** The query of an address without some of its parameters, for the setter of `useSearchParams`. */
export function withoutParameters(...names: string[]): (now: URLSearchParams) => URLSearchParams {
  return (now) => {
    for (const name of names) now.delete(name);
    return now;
  };
}
