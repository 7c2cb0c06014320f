import { add, blend, scale } from '../color.ts';
import type { Rgb } from '../color.ts';
import { addSkyLight, createSkyLight, hangCurtain } from '../curtains.ts';
import type { Curtain } from '../curtains.ts';
import { clamp, mix } from '../math.ts';
import type { Scene } from '../scene.ts';
import { drawCampfire, drawFlock, drawMeadow, drawSpruce } from '../silhouettes.ts';
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
import type { SkyPalette } from '../sky.ts';
import { paintWeather } from '../weather.ts';
import { mirrorLake, paintLand } from './aurora-land.ts';
import type { Plan } from './aurora-land.ts';
import { fillPolygon } from '../shapes.ts';

const arcticSky: SkyPalette = {
  dawn: [skyTone([0.3, 0.075, 265], [0.46, 0.085, 300], [0.74, 0.11, 40], [0.85, 0.1, 55], 0.8)],
  noon: [skyTone([0.36, 0.09, 258], [0.5, 0.085, 235], [0.74, 0.06, 210], [0.9, 0.04, 220], 1)],
  dusk: [skyTone([0.24, 0.075, 282], [0.36, 0.1, 330], [0.6, 0.14, 42], [0.75, 0.14, 40], 0.6)],
  night: [skyTone([0.13, 0.045, 272], [0.2, 0.055, 255], [0.28, 0.055, 232], [0.75, 0.03, 240], 0.2)],
};

/** Curtains of northern light over a dark land: mountains and snow, often a lake that mirrors them. */
export function paintAurora(scene: Scene): void {
  const plan = planAurora(scene);
  const sky = skyAt(scene, 'night', arcticSky);
  paintSkyGradient(scene, sky, plan.horizon, scene.height);
  paintStars(scene, plan.horizon, mix(0.25, 1, sky.night) * mix(1, 2.2, scene.presence('star', 0.1)));
  paintLights(scene, plan, sky.light);
  scene.tick(0.1);
  const curtains = planCurtains(scene);
  const glow = createSkyLight(scene, plan.horizon + 1);
  curtains.forEach((curtain, index) => {
    hangCurtain(scene, glow, plan.horizon, plan.apex, curtain);
    scene.tick(0.1 + (0.35 * (index + 1)) / curtains.length);
  });
  const ambient = addSkyLight(scene.canvas, glow, plan.horizon);
  const overhead = add(scale(blend(ambient[0]!, ambient[2]!, 0.5), 1.4), scale(sky.middle, 0.5));
  paintAir(scene, plan, overhead);
  paintLand(scene, plan, ambient, add(sky.middle, scale(sky.horizon, 0.4)), sky.horizon);
  if (plan.lake > 0) mirrorLake(scene, plan);
  paintForeground(scene, plan, overhead);
  paintWeather(scene, { horizon: plan.horizon, light: add(scale(overhead, 1.6), scale(sky.horizon, 0.5)) });
}

function planAurora(scene: Scene): Plan {
  const random = scene.random('plan');
  const lakeside = scene.presence('water', 0.55) > 0;
  const density = scene.mood('density', 0);
  const ground = lakeside ? random.range(0.25, 0.36) : random.range(0.16, 0.24);
  const peaks =
    random.range(0.65, 1.25) *
    mix(1, 1.5, scene.wants('mountain') ? scene.strength : 0) *
    (density < 0 ? 1 + density * 0.75 : 1);
  return {
    horizon: Math.round(scene.height * (1 - ground)),
    lake: lakeside ? Math.round(scene.height * ground) : 0,
    peaks: scene.presence('mountain', 0.85) > 0 ? peaks : 0.12,
    lightX: random.range(0.15, 0.85),
    apex: random.chance(0.3)
      ? scene.height * random.range(-0.05, 0.16)
      : -scene.height * random.range(0.6, 1.8),
    trees: scene.presence('forest', 0.6) * (1 + density),
  };
}

function planCurtains(scene: Scene): Curtain[] {
  const random = scene.random('curtains');
  const density = scene.mood('density', 0);
  const count = clamp(Math.round(random.range(2.4, 4.4) + density * 2), 1, 6);
  const storm = scene.mood('storm', 0.25);
  const calm = scene.mood('calm', 0.2);
  const hue = random.range(140, 172);
  const body = scene.tint('key', [0.8, 0.21, hue]);
  const second = scene.tint('accent', [0.74, 0.16, hue + random.range(25, 60)]);
  const fringe = scene.tint('accent', [0.68, 0.2, random.range(330, 365)]);
  const crown = scene.tint('accent', [0.5, 0.2, random.range(285, 318)]);
  const side = random.chance(0.5) ? 1 : -1;
  return Array.from({ length: count }, (_, i) => ({
    name: String(i),
    // The first hangs in the middle of the view, so that a picture with few curtains is not an empty one.
    x: side * random.range(-1.1, 1.3) * (i === 0 ? 0.45 : 1),
    distance: (count < 3 ? 2.6 : 1.7) + i * random.range(0.8, 1.7) + random.range(0, 0.7),
    heading: random.range(-0.55, 0.55),
    folds: random.range(0.45, 0.85) * mix(1, 1.25, storm) * mix(1, 0.55, calm),
    height: random.range(0.9, 1.7),
    brightness:
      random.range(0.75, 1.3) * (i === 0 ? 1.2 : 0.85) * mix(0.9, 1.2, storm) * (count < 3 ? 1.45 : 1),
    colors: [fringe, i % 2 === 0 ? body : second, i % 3 === 2 ? second : crown],
  }));
}

function paintLights(scene: Scene, plan: Plan, light: Rgb): void {
  const random = scene.random('lights');
  const x = scene.width * random.range(0.14, 0.86);
  const y = plan.horizon * random.range(0.16, 0.4);
  const phase = random.pick([1, 0.75, 0.45, 0.3]);
  const radius = scene.side * random.range(0.028, 0.045);
  const moon = scene.presence('moon', 0.22);
  if (moon > 0) {
    const color = scene.tint('ground', [0.93, 0.03, 85]);
    paintMoon(
      scene,
      { x, y, radius: radius * mix(0.6, 1.25, moon), light: scale(color, 1.5 * moon), halo: 7 },
      phase,
    );
  }
  const sun = scene.wants('sun') ? scene.presence('sun', 0) : 0;
  if (sun > 0) {
    const low = { x: scene.width * plan.lightX, y: plan.horizon - radius * 0.4, radius: radius * 1.2 };
    paintSun(scene, { ...low, light: scale(scene.tint('ground', [0.88, 0.13, 60]), 3 * sun), halo: 9 });
  }
  paintHorizonGlow(scene, plan.horizon, scene.width * plan.lightX, scene.height * 0.07, scale(light, 0.35));
}

function paintAir(scene: Scene, plan: Plan, overhead: Rgb): void {
  const mist = scene.mood('mist', 0.12);
  const cloudiness = Math.max(scene.wants('cloud') ? scene.strength * 0.6 : 0, scene.mood('storm', 0) * 0.5);
  if (cloudiness > 0.05) {
    const lit = scale(overhead, 0.9);
    const shade = scale(overhead, 0.22);
    paintClouds(scene, {
      horizon: plan.horizon,
      cover: cloudiness,
      lit,
      shade,
      lightX: scene.width * 0.5,
      lightY: 0,
      stretch: 2,
    });
  }
  paintHorizonGlow(
    scene,
    plan.horizon,
    scene.width * plan.lightX,
    scene.height * 0.05,
    scale(overhead, 0.5 * mist),
  );
  const city = scene.presence('city', 0.05);
  if (city > 0) {
    const lamps = scale(scene.tint('ground', [0.8, 0.13, 65]), 0.5 * city);
    paintHorizonGlow(scene, plan.horizon, scene.width * (1 - plan.lightX), scene.height * 0.06, lamps);
  }
}

function paintForeground(scene: Scene, plan: Plan, overhead: Rgb): void {
  const random = scene.random('foreground');
  const dark = add(scale(scene.tint('ground', [0.12, 0.02, 250]), 0.5), scale(overhead, 0.015));
  const { width, height, canvas, side } = scene;
  paintBank(scene, dark);
  if (plan.trees > 0.1) {
    const leftHeavy = random.range(0.2, 0.8);
    const count = Math.round((width / side) * 46 * plan.trees);
    for (let i = 0; i < count; i += 1) {
      const edge = random.chance(leftHeavy)
        ? random.unit() * random.unit() * 0.55
        : 1 - random.unit() * random.unit() * 0.55;
      const near = random.unit();
      const tall = side * mix(0.05, 0.24, near * near) * random.range(0.7, 1.15);
      drawSpruce(canvas, edge * width, height + side * 0.02 - side * 0.05 * (1 - near), tall, random, dark);
    }
  }
  const birds = scene.presence('bird', 0.05);
  if (birds > 0)
    drawFlock(canvas, width * random.range(0.25, 0.75), plan.horizon * 0.6, side * 0.014, random, dark);
  const flowers = scene.presence('flower', 0);
  const bloom = (role: 'key' | 'accent'): Rgb => scale(scene.tint(role, [0.75, 0.16, 350]), 0.35);
  if (flowers > 0) drawMeadow(scene, flowers, [bloom('key'), bloom('accent'), bloom('accent')], dark);
  if (scene.wants('fire')) drawCampfire(scene, width * plan.lightX, height - side * 0.022, side * 0.03);
}

/** The near shore, so that the nearest trees do not stand in the water. */
function paintBank(scene: Scene, dark: Rgb): void {
  const noise = scene.noise('bank');
  const { width, height, side } = scene;
  const points = [0, height + 2];
  for (let x = 0; x <= width; x += 4) {
    const edge = Math.abs(x / width - 0.5) * 2;
    const rise = 0.012 + 0.05 * edge * edge + noise.fbm((x / side) * 5, 3, 3) * 0.016;
    points.push(x, height - rise * side);
  }
  points.push(width, height + 2);
  fillPolygon(scene.canvas, points, dark);
}
