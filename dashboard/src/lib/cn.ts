import { clsx, type ClassValue } from 'clsx';
import { twMerge } from 'tailwind-merge';

/** Joins class names; of those that conflict, the last wins. */
export function cn(...classes: ClassValue[]): string {
  return twMerge(clsx(classes));
}
