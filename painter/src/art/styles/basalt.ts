import { add, multiply, scale } from '../color.ts';
import type { Rgb } from '../color.ts';
import { createColumns, paintColumns } from '../columns.ts';
import type { Columns } from '../columns.ts';
import { mix, smooth } from '../math.ts';
import type { Scene } from '../scene.ts';
import { drawFlock, drawMeadow } from '../silhouettes.ts';
import {
  paintClouds,
  paintHorizonGlow,
  paintMoon,
  paintSkyGradient,
  paintStars,
  paintSun,
  skyAt,
  skyTone,
} from '../sky.ts';
import type { Sky, SkyPalette } from '../sky.ts';
import type { Time } from '../vocabulary.ts';
import { paintLightning, paintWeather } from '../weather.ts';
import { planBasalt } from './basalt-plan.ts';
import type { Plan } from './basalt-plan.ts';
import { columnShader } from './basalt-stone.ts';

const volcanicSky: SkyPalette = {
  dawn: [skyTone([0.42, 0.035, 255], [0.62, 0.045, 10], [0.84, 0.075, 60], [0.9, 0.05, 70], 2.2)],
  noon: [skyTone([0.52, 0.035, 250], [0.68, 0.025, 240], [0.84, 0.02, 220], [0.96, 0.03, 90], 2.4)],
  dusk: [skyTone([0.25, 0.035, 268], [0.42, 0.05, 320], [0.7, 0.115, 52], [0.86, 0.07, 62], 2.2)],
  night: [skyTone([0.18, 0.04, 268], [0.27, 0.045, 258], [0.4, 0.05, 245], [0.8, 0.035, 245], 1.5)],
};

/** A causeway of hexagonal columns under a heavy sky, with something that glows in the joints between them. */
export function paintBasalt(scene: Scene): void {
  const plan = planBasalt(scene);
  const sky = skyAt(scene, ownHour(scene), volcanicSky);
  paintSky(scene, plan, sky);
  scene.tick(0.15);
  const columns = raiseColumns(scene, plan);
  const shade = columnShader(scene, plan, sky, columns);
  scene.tick(0.2);
  paintColumns(scene.canvas, columns, plan.view, shade, (share) => scene.tick(0.2 + share * 0.8));
  paintNear(scene, plan, sky);
}

/** What is between the eye and the columns: birds, flowers, weather. */
function paintNear(scene: Scene, plan: Plan, sky: Sky): void {
  const random = scene.random('near');
  const { horizon } = plan.view;
  const dark: Rgb = [0.012, 0.012, 0.014];
  if (scene.presence('bird', 0.1) > 0 && horizon > scene.height * 0.2) {
    drawFlock(
      scene.canvas,
      scene.width * random.range(0.3, 0.7),
      horizon * 0.45,
      scene.side * 0.013,
      random,
      dark,
    );
  }
  const light = add(scale(sky.middle, 0.6), scale(sky.horizon, 0.6));
  paintWeather(scene, { horizon: Math.max(horizon, 0), light });
  const flowers = scene.presence('flower', 0);
  const bloom = (role: 'key' | 'accent', hue: number): Rgb =>
    multiply(scene.tint(role, [0.75, 0.16, hue]), scale(light, 1.6));
  if (flowers > 0)
    drawMeadow(
      scene,
      flowers,
      [bloom('key', 20), bloom('accent', 350), bloom('key', 60)],
      scale(light, 0.08),
    );
}

function ownHour(scene: Scene): Time {
  const hour = scene.random('hour').pick<Time>(['dusk', 'dusk', 'dawn', 'night']);
  return hour === 'night' && scene.wants('sun') ? 'dawn' : hour;
}

function paintSky(scene: Scene, plan: Plan, sky: Sky): void {
  const { horizon } = plan.view;
  paintSkyGradient(scene, sky, Math.max(horizon, 1), scene.height);
  if (horizon < scene.height * 0.08) return;
  paintStars(scene, horizon, sky.night * 0.9);
  const random = scene.random('lights');
  const radius = scene.side * random.range(0.022, 0.04);
  const disc = { x: plan.lightX, y: plan.lightY, radius, halo: 8 };
  const moon = scene.presence('moon', sky.night > 0.5 ? 0.8 : 0.05);
  const sun = scene.presence('sun', sky.night > 0.5 ? 0 : 0.45);
  if (moon > 0)
    paintMoon(
      scene,
      { ...disc, light: scale(scene.tint('ground', [0.93, 0.03, 85]), 1.5 * moon) },
      random.pick([1, 0.7, 0.4]),
    );
  else if (sun > 0) paintSun(scene, { ...disc, light: scale(sky.light, 2.2 * sun) });
  paintHorizonGlow(scene, horizon, plan.lightX, scene.height * 0.1, scale(sky.light, 0.18));
  const storm = scene.mood('storm', 0.45);
  paintClouds(scene, {
    horizon,
    cover: mix(0.25, 0.85, storm),
    lit: add(scale(sky.light, 0.4), scale(sky.horizon, 0.5)),
    shade: scale(sky.zenith, mix(0.9, 0.45, storm)),
    lightX: plan.lightX,
    lightY: plan.lightY,
    stretch: random.range(1.4, 2.4),
  });
  if (storm > 0.72) paintLightning(scene, scene.width * random.range(0.15, 0.85), horizon);
}

/** The columns' heights: low along a winding valley, before a cliff, among stacks, or a field that hardly rises. */
function raiseColumns(scene: Scene, plan: Plan): Columns {
  const noise = scene.noise('relief');
  const random = scene.random('columns');
  const { lie, relief, valley } = plan;
  const side = plan.bend < 0 ? -1 : 1;
  const rise = (x: number, z: number): number => {
    const course = noise.at(z * 0.07 + 3, 1.5) * 5 + plan.bend * (z + 22) * 0.16 + plan.view.x * 0.5;
    const away = Math.abs(x - course);
    const hills = noise.fbm(x * 0.09 + 11, z * 0.09, 3);
    if (lie === 'valley') return smooth(valley * 0.4, valley * 4.5, away) * 4.6 + hills * 3.6 - 0.5;
    if (lie === 'field')
      return hills * 2.2 + noise.at(x * 0.3, z * 0.3) * 0.7 - smooth(valley, 0, away) * 0.8;
    if (lie === 'cliff') {
      const wall = smooth(-6, 4, z - Math.abs(x - plan.bend * 4) * 0.35 + hills * 7);
      return wall * (9 + hills * 5) + hills * 1.6 + (wall > 0.05 && wall < 0.7 ? -0.8 : 0);
    }
    const stack = smooth(0.18, 0.42, noise.fbm(x * 0.11 + 5, z * 0.13 + side * 9, 3));
    return stack * (4 + (z + 22) * 0.16) + noise.at(x * 0.5, z * 0.5) * 0.35 - 0.2;
  };
  return createColumns(112, 0.17, random, (x, z) => {
    const near = smooth(-21, -13, z);
    const stepped = Math.floor(rise(x, z) * relief * 2.5) / 2.5;
    return Math.max(-0.4, stepped * mix(0.3, 1, near) + random.gauss() * mix(0.1, 0.22, near));
  });
}
