const mostCategories = 5;

/** What is shown and counted: short names in lower case. A check that says other things must not fill pages or the table with it. */
export function knownCategories(categories: readonly string[]): string[] {
  const names = categories.map((category) => category.toLowerCase().replaceAll(/[\s_]+/g, '-'));
  return [...new Set(names.filter((name) => /^[a-z][a-z0-9/-]{0,39}$/.test(name)))].slice(0, mostCategories);
}

/** Names what something was refused for, never the rule: who wants past it would learn from that. @param categories known ones */
export function categoriesInWords(categories: readonly string[]): string {
  return categories.length === 0 ? 'its content' : categories.join(', ');
}
