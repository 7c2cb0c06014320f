import type { View } from '../columns.ts';
import { mix } from '../math.ts';
import type { Scene } from '../scene.ts';

/** How the land lies, and where the camera and the light are. */
export type Lie = 'valley' | 'cliff' | 'stacks' | 'field';

export interface Plan {
  lie: Lie;
  view: View;
  lightX: number;
  lightY: number;
  /** Towards the light, in the plane. */
  towards: readonly [number, number];
  /** Height of the glowing (or watery) level between the columns. */
  level: number;
  /** Bend of the valley that leads into the picture. */
  bend: number;
  valley: number;
  relief: number;
  glow: number;
  water: boolean;
}

const views: Record<Lie, { horizon: [number, number]; height: [number, number] }> = {
  valley: { horizon: [0.2, 0.46], height: [2.4, 4.6] },
  cliff: { horizon: [0.3, 0.55], height: [1.6, 3] },
  stacks: { horizon: [0.36, 0.6], height: [1.8, 3.4] },
  field: { horizon: [-0.5, -0.12], height: [6, 9] },
};

export function planBasalt(scene: Scene): Plan {
  const random = scene.random('plan');
  const lie = random.pick<Lie>(['valley', 'valley', 'cliff', 'stacks', 'field']);
  const { horizon, height } = views[lie];
  const lightX = scene.width * random.range(0.15, 0.85);
  const side = lightX < scene.width / 2 ? -1 : 1;
  const water = scene.wants('water');
  const density = scene.mood('density', 0);
  const level = scene.height * random.range(...horizon);
  return {
    lie,
    view: {
      focal: scene.side * random.range(0.85, 1.1) * (1 - 0.35 * density),
      x: random.range(-2, 2),
      height: random.range(...height),
      z: -22,
      horizon: level,
      far: lie === 'field' ? 46 : 64,
    },
    lightX,
    lightY: Math.max(level, scene.height * 0.1) * random.range(0.45, 0.95),
    towards: [side * random.range(0.9, 1.4), random.range(-0.25, 0.7)],
    level: random.range(0.1, 0.4),
    bend: random.range(-1, 1),
    valley: random.range(1.2, 2.6),
    relief: random.range(0.8, 1.25) * mix(1, 1.6, scene.wants('mountain') ? scene.strength : 0),
    glow: water ? 0.2 : random.range(0.7, 1.1) * (scene.wants('fire') ? 1.7 : 1),
    water,
  };
}
