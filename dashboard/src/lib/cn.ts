/** Joins class names; of those that conflict, the last wins. */
export { twMerge as cn } from 'tailwind-merge';
