import { hoursPerMonth, type Workload } from './workload.ts';

/** Hours of a week in which as much is asked for, and their share of a week's images. */
export interface KindOfHour {
  name: string;
  /** In the operator's own time. */
  when: string;
  hoursPerWeek: number;
  share: number;
}

export const weekDays = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'] as const;
const hoursPerWeek = weekDays.length * 24;

/**
 * When a month's images are asked for. Nobody knows before the service runs, so it is one that is easily imagined: a
 * service for people who mostly work in one time zone. Change it here.
 */
export const trafficShape = {
  work: { name: 'working hours', when: 'Monday to Friday, 9 to 18', hoursPerWeek: 45, share: 0.7 },
  day: { name: 'the rest of the day', when: 'all days, 8 to 22', hoursPerWeek: 53, share: 0.25 },
  night: { name: 'night', when: 'all days, 22 to 8', hoursPerWeek: 70, share: 0.05 },
} as const satisfies Record<string, KindOfHour>;

export type KindName = keyof typeof trafficShape;

/** @param day 0 for Monday. */
export function kindOfHour(day: number, hour: number): KindName {
  if (hour < 8 || hour >= 22) return 'night';
  return day < 5 && hour >= 9 && hour < 18 ? 'work' : 'day';
}

/** What is asked for in hours of one kind. */
export interface HourlyLoad {
  kind: KindName;
  /** Such hours in a month. */
  hours: number;
  sittingsPerHour: number;
  /** Hours of painting in each hour: over 1 one instance can't do it. */
  paintHours: number;
}

export function hourlyLoads(workload: Workload): HourlyLoad[] {
  const { generationsPerMonth, outputs, secondsPerMegapixel, megapixels } = workload;
  const imagesPerMonth = generationsPerMonth * outputs;
  return Object.entries(trafficShape).map(([kind, { share, ...of }]) => {
    const hours = (of.hoursPerWeek / hoursPerWeek) * hoursPerMonth;
    const imagesPerHour = (imagesPerMonth * share) / hours;
    return {
      kind: kind as KindName,
      hours,
      sittingsPerHour: imagesPerHour / workload.imagesPerSitting,
      paintHours: (imagesPerHour * secondsPerMegapixel * megapixels) / 3600,
    };
  });
}
