import { add, blend, scale } from '../colour.ts';
import { mix, smooth } from '../math.ts';
import type { Scene } from '../scene.ts';
import { paintClouds, paintMoon, paintSkyGradient, paintStars, paintSun, skyAt } from '../sky.ts';
import type { SkyPalette } from '../sky.ts';
import { paintTerrain } from '../terrain.ts';
import { mirrorPicture, paintWater } from '../water.ts';

const polarSky: SkyPalette = {
  dawn: [
    {
      zenith: [0.5, 0.07, 255],
      middle: [0.72, 0.06, 300],
      horizon: [0.88, 0.06, 30],
      light: [0.9, 0.07, 45],
      power: 1.5,
    },
  ],
  noon: [
    {
      zenith: [0.52, 0.1, 250],
      middle: [0.72, 0.07, 235],
      horizon: [0.9, 0.03, 215],
      light: [0.97, 0.02, 100],
      power: 1.9,
    },
  ],
  dusk: [
    {
      zenith: [0.36, 0.08, 265],
      middle: [0.56, 0.08, 310],
      horizon: [0.8, 0.09, 20],
      light: [0.85, 0.1, 35],
      power: 1.3,
    },
  ],
  night: [
    {
      zenith: [0.14, 0.045, 265],
      middle: [0.22, 0.055, 250],
      horizon: [0.33, 0.055, 230],
      light: [0.8, 0.03, 230],
      power: 0.4,
    },
  ],
};

/** Broken ice along a cold sea: blue faces, white tops. */
export function paintGlacier(scene: Scene): void {
  const random = scene.random('glacier');
  const horizon = Math.round(scene.height * random.range(0.5, 0.62));
  const lightX = random.range(0.15, 0.85);
  const sky = skyAt(scene, 'noon', polarSky);
  paintSkyGradient(scene, sky, horizon, scene.height);
  paintStars(scene, horizon, sky.night);
  const disc = { x: scene.width * lightX, y: horizon * 0.4, radius: scene.side * 0.03, halo: 7 };
  if (scene.presence('moon', sky.night * 0.8) > 0)
    paintMoon(scene, { ...disc, light: [1.4, 1.4, 1.35] }, 0.7);
  else if (scene.presence('sun', 0.3) > 0) paintSun(scene, { ...disc, light: sky.light });
  const lit = add(scale(sky.light, 0.3), scale(sky.horizon, 0.6));
  const cover = mix(0.3, 0.7, scene.mood('storm', 0.2));
  paintClouds(scene, {
    horizon,
    cover,
    lit,
    shade: scale(sky.middle, 0.8),
    lightX: disc.x,
    lightY: disc.y,
    stretch: 2.4,
  });
  scene.tick(0.2);
  paintIce(scene, horizon, lightX < 0.5 ? -1 : 1, blend(sky.horizon, sky.middle, 0.4), sky.light);
  const mirror = mirrorPicture(scene.canvas, horizon + Math.round(scene.side * 0.01));
  const body = scene.tint('ambient', [0.36, 0.08, 235]);
  const rough = mix(0.5, 0.1, scene.mood('calm', 0.5));
  paintWater(
    scene,
    mirror,
    { shore: horizon + Math.round(scene.side * 0.01), rough, body, far: 0.85, near: 0.45 },
    (share) => scene.tick(0.7 + share * 0.3),
  );
}

function paintIce(
  scene: Scene,
  horizon: number,
  side: number,
  haze: readonly [number, number, number],
  light: readonly [number, number, number],
): void {
  const noise = scene.noise('ice');
  const white = scene.tint('ground', [0.95, 0.012, 230]);
  const blue = scene.tint('key', [0.6, 0.11, 238]);
  const deep = scene.tint('accent', [0.38, 0.1, 250]);
  const octaves = 3 + Math.round(scene.detail * 2);
  const ground = {
    near: 3.4,
    far: 15,
    rows: Math.round(scene.side * mix(0.4, 0.55, scene.detail)),
    height: (x: number, z: number): number => {
      const shelf = smooth(3.6, 6.5, z + noise.at(x * 0.8, 4) * 1.4);
      const ridge = Math.max(0, noise.ridged(x * 0.36 + 3, z * 0.36, octaves) * 1.7 - 0.42);
      // Ice breaks off in blocks, so part of the height comes in steps.
      const blocks = Math.floor(ridge * 3.5 + noise.at(x * 0.9, z * 0.9) * 0.8) / 3.5;
      return shelf * (ridge * 0.6 + Math.max(0, blocks) * 0.55) * (0.7 + z * 0.13) - 0.04 * (1 - shelf);
    },
    shade: (
      point: { x: number; z: number; height: number; slopeX: number; slopeZ: number },
      colour: Float32Array,
    ): void => {
      const length = 1 / Math.sqrt(1 + point.slopeX * point.slopeX + point.slopeZ * point.slopeZ);
      const facing = Math.max(0.05, (point.slopeX * -side * 0.8 + 0.6 - point.slopeZ * 0.2) * length);
      const grain = noise.fbm(point.x * 6, point.z * 6 + point.height * 9, 3);
      const top = smooth(0.45, 0.85, length + grain * 0.2);
      const fog = smooth(5, 22, point.z) * 0.7;
      for (let c = 0; c < 3; c += 1) {
        const ice = mix(mix(deep[c]!, blue[c]!, smooth(-0.4, 0.5, grain) * 0.7 + 0.3), white[c]!, top);
        const value = ice * (light[c]! * facing * 0.55 + haze[c]! * 0.4);
        colour[c] = mix(value, haze[c]!, fog);
      }
    },
  };
  const camera = { focal: scene.side * 0.95, height: 0.05, horizon, centre: scene.width / 2 };
  paintTerrain(scene.canvas, camera, ground, (share) => scene.tick(0.2 + share * 0.5));
}
