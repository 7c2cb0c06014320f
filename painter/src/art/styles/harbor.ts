import { add, blend, luminance, scale } from '../color.ts';
import { clamp, mix, smooth } from '../math.ts';
import { fillPolygon } from '../shapes.ts';
import type { Scene } from '../scene.ts';
import { drawFlock, drawSpruce } from '../silhouettes.ts';
import {
  naturalSky,
  paintClouds,
  paintHorizonGlow,
  paintMoon,
  paintSkyGradient,
  paintStars,
  paintSun,
  skyAt,
} from '../sky.ts';
import type { Sky } from '../sky.ts';
import { mirrorPicture, paintWater } from '../water.ts';
import { drawBoat } from './harbor-boats.ts';
import { paintFront, planBoats } from './harbor-front.ts';
import type { Lie, Plan } from './harbor-front.ts';
import { paintLightning, paintWeather } from '../weather.ts';
import { drawHouses, drawLighthouse, drawQuay } from './harbor-town.ts';
import type { Evening } from './harbor-town.ts';

/** A harbor on a still evening: a town along the shore, boats at rest, and all their lights in the water. */
export function paintHarbor(scene: Scene): void {
  const plan = planHarbor(scene);
  const sky = skyAt(scene, 'dusk', naturalSky);
  const evening = eveningLight(scene, plan, sky);
  paintSky(scene, plan, sky);
  scene.tick(0.2);
  paintHills(scene, plan, evening);
  paintShore(scene, plan, evening);
  scene.tick(0.4);
  const mirror = mirrorPicture(scene.canvas, plan.shore);
  const boats = planBoats(scene, plan);
  for (const boat of boats) drawBoat(mirror, boat, evening, scene.random(`boat ${boat.seed}`), plan.shore);
  const calm = scene.mood('calm', 0.55);
  const rough = clamp(
    mix(0.55, 0.06, calm) + scene.mood('storm', 0) * 0.4 + scene.mood('rain', 0) * 0.15,
    0.03,
    1,
  );
  const body = scene.tint('ambient', [mix(0.3, 0.16, sky.night), 0.055, 235]);
  paintWater(
    scene,
    mirror,
    { shore: plan.shore, rough, body: scale(body, 0.8), far: 0.94, near: 0.62 },
    (share) => scene.tick(0.4 + share * 0.5),
  );
  for (const boat of boats) drawBoat(scene.canvas, boat, evening, scene.random(`boat ${boat.seed}`));
  paintFront(scene, plan, evening);
  paintWeather(scene, { horizon: plan.shore, light: add(scale(sky.middle, 0.5), scale(sky.horizon, 0.5)) });
}

function planHarbor(scene: Scene): Plan {
  const random = scene.random('plan');
  const lie = random.pick<Lie>(['town', 'town', 'bay', 'bay', 'point']);
  const side = random.chance(0.5) ? 1 : -1;
  const span = lie === 'town' ? 1.1 : lie === 'bay' ? random.range(0.42, 0.62) : random.range(0.12, 0.25);
  const town: [number, number] = side < 0 ? [-0.05, span - 0.05] : [1.05 - span, 1.05];
  const mountain = scene.presence('mountain', 0.6);
  return {
    lie,
    shore: Math.round(scene.height * random.range(0.43, 0.63)),
    side,
    lightX: lie === 'town' ? random.range(0.15, 0.85) : 0.5 - side * random.range(0.12, 0.36),
    town: scene.presence('city', 1) > 0 ? town : [0, 0],
    hills: mountain > 0 ? mix(0.06, 0.26, mountain) * random.range(0.6, 1.3) : 0.035,
    lighthouse: scene.presence('lighthouse', lie === 'point' ? 0.95 : 0.22),
    pier: random.chance(0.35),
  };
}

function eveningLight(scene: Scene, plan: Plan, sky: Sky): Evening {
  const sum = add(add(scale(sky.zenith, 0.9), scale(sky.middle, 0.5)), scale(sky.light, 0.1));
  // Under a purple sky the eye still sees white as white, so half of the color cast is removed.
  const gray = luminance(sum) * 1.15;
  const ambient = blend(sum, [gray, gray, gray], 0.5);
  const shares = scene.time('dusk');
  return {
    ambient,
    haze: blend(sky.horizon, sky.middle, 0.45),
    lamp: scene.tint('key', [0.84, 0.135, 70]),
    lit: clamp(shares.dusk * 0.55 + shares.night * 0.72 + shares.dawn * 0.3 + shares.noon * 0.04, 0.02, 0.85),
    side: plan.lightX < 0.5 ? -1 : 1,
  };
}

function paintSky(scene: Scene, plan: Plan, sky: Sky): void {
  const random = scene.random('heaven');
  const { shore } = plan;
  paintSkyGradient(scene, sky, shore, shore);
  paintStars(scene, shore, sky.night);
  const radius = scene.side * random.range(0.028, 0.045);
  const x = scene.width * plan.lightX;
  const moon = scene.presence('moon', sky.night * 0.8);
  const storm = scene.mood('storm', 0.1);
  const sun = scene.presence('sun', sky.night > 0.5 || storm > 0.5 ? 0 : 0.55);
  const high = shore * random.range(0.25, 0.5);
  if (moon > 0)
    paintMoon(scene, { x, y: high, radius, light: [1.5, 1.45, 1.3], halo: 8 }, random.pick([1, 1, 0.6, 0.4]));
  else if (sun > 0)
    paintSun(scene, {
      x,
      // The sun stands higher behind a town, which would hide it.
      y: shore - radius * random.range(0.3, 3.5) - (plan.lie === 'town' ? scene.side * 0.16 : 0),
      radius: radius * 1.15,
      light: scale(sky.light, 2),
      halo: 9,
    });
  paintHorizonGlow(scene, shore, x, scene.height * 0.09, scale(sky.light, 0.22));
  const cover = Math.max(scene.presence('cloud', 0.75) * random.range(0.2, 0.62), storm);
  const lit = add(scale(sky.light, 0.42), scale(sky.horizon, 0.55));
  const shade = blend(scale(sky.middle, 0.6), scale(sky.zenith, 0.5), 0.4 + storm * 0.4);
  paintClouds(scene, {
    horizon: shore,
    cover: cover * 0.9,
    lit,
    shade,
    lightX: x,
    lightY: shore * 0.95,
    stretch: random.range(1.6, 3),
  });
  if (storm > 0.6) paintLightning(scene, scene.width * random.range(0.1, 0.9), shore);
  const birds = scene.presence('bird', 0.35);
  if (birds > 0)
    drawFlock(
      scene.canvas,
      scene.width * random.range(0.2, 0.8),
      shore * random.range(0.3, 0.65),
      scene.side * 0.011,
      random,
      scale(sky.zenith, 0.25),
    );
}

/** Ridges behind the shore, each nearer one darker. */
function paintHills(scene: Scene, plan: Plan, evening: Evening): void {
  const noise = scene.noise('hills');
  const octaves = 4 + Math.round(scene.detail * 2);
  const ranges = 3;
  const mist = scene.mood('mist', 0.25);
  const { width, side, canvas } = scene;
  for (let i = 0; i < ranges; i += 1) {
    const depth = i / (ranges - 1);
    const color = blend(
      scale(evening.ambient, 0.28),
      evening.haze,
      mix(0.72, 0.18, depth) * mix(0.8, 1.2, mist),
    );
    const high = plan.hills * mix(1, 0.5, depth) * side;
    const points = [0, plan.shore];
    for (let x = 0; x <= width; x += 1) {
      const u = (x / side) * mix(1.6, 2.6, depth) + i * 17;
      const land =
        plan.lie === 'town'
          ? 1
          : smooth(0.25, 1, 0.5 + plan.side * (x / width - 0.5) * mix(1.3, 2.2, depth) + 0.1);
      const ridge = noise.fbm(u, i * 9.1, octaves) * 0.7 + noise.ridged(u * 0.7, i + 40, 3) * 0.75;
      points.push(x, plan.shore + 1 - Math.max(0, ridge + 0.12) * high * land);
    }
    points.push(width, plan.shore);
    fillPolygon(canvas, points, color);
  }
}

function paintShore(scene: Scene, plan: Plan, evening: Evening): void {
  const random = scene.random('shore');
  const { width, side } = scene;
  const [from, to] = [plan.town[0] * width, plan.town[1] * width];
  if (to > from) paintTown(scene, plan, evening, from, to);
  if (plan.lighthouse <= 0) return;
  const x =
    width * (plan.lie === 'town' ? 0.5 - plan.side * 0.36 : 0.5 + plan.side * random.range(-0.12, 0.1));
  const high = side * mix(0.16, 0.3, plan.lighthouse) * (plan.lie === 'point' ? 1.15 : 0.8);
  drawLighthouse(scene, evening, x, plan.shore, high);
}

/** Rows of houses up a slope, the furthest first, with trees between them and a quay in front. */
function paintTown(scene: Scene, plan: Plan, evening: Evening, from: number, to: number): void {
  const random = scene.random('town');
  const { side } = scene;
  const density = scene.mood('density', 0.2);
  const base = plan.shore - side * 0.008;
  const house = side * random.pick([0.036, 0.044, 0.052, 0.064, 0.082]);
  const left = plan.side < 0;
  for (let row = Math.round(clamp(1.6 + density * 2, 1, 4)); row > 0; row -= 1) {
    const inset = row * house * 0.8;
    const place = {
      from: left ? from : from + inset,
      to: left ? to - inset : to,
      base: base - row * house * 0.7,
    };
    drawHouses(scene, evening, { ...place, house: house * (1 - row * 0.1), far: 0.16 * row }, random);
  }
  // The slope that the upper rows stand on shows through the gaps between the houses.
  const slope = scale(evening.ambient, 0.22);
  fillPolygon(
    scene.canvas,
    [from, base, from + (left ? 0 : house), base - house, to - (left ? house : 0), base - house, to, base],
    slope,
  );
  const trees = Math.round((1 + scene.presence('forest', 0.4) * 6) * ((to - from) / side) * 3);
  const leaf = scale(evening.ambient, 0.12);
  for (let i = 0; i < trees; i += 1) {
    drawSpruce(
      scene.canvas,
      random.range(from, to),
      base - house * 0.4,
      house * random.range(0.8, 1.7),
      random,
      leaf,
    );
  }
  drawHouses(scene, evening, { from, to: to - (left ? house * 0.6 : 0), base, house, far: 0 }, random);
  drawQuay(scene, evening, { from, to, base: plan.shore - side * 0.01, house, far: 0 }, random);
}
