import { ChartNoAxesColumn, Images, KeyRound, Sparkles, SquareTerminal, type LucideIcon } from 'lucide-react';

export interface NavigationItem {
  path: string;
  label: string;
  icon: LucideIcon;
}

export const navigation: NavigationItem[] = [
  { path: '/', label: 'Overview', icon: ChartNoAxesColumn },
  { path: '/history', label: 'History', icon: Images },
  { path: '/playground', label: 'Playground', icon: Sparkles },
  { path: '/keys', label: 'Keys', icon: KeyRound },
  { path: '/quickstart', label: 'Quickstart', icon: SquareTerminal },
];
