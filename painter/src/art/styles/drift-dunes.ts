import { add, blend, scale } from '../color.ts';
import type { Rgb } from '../color.ts';
import { clamp, exp, mix, sin, smooth, unit } from '../math.ts';
import type { Scene } from '../scene.ts';
import { drawFlock } from '../silhouettes.ts';
import { naturalSky, paintClouds, paintMoon, paintSkyGradient, paintStars, paintSun, skyAt } from '../sky.ts';
import type { Sky } from '../sky.ts';
import { paintTerrain } from '../terrain.ts';
import type { Vertex } from '../terrain.ts';
import type { Time } from '../vocabulary.ts';

/** Dunes in low light: sharp crests, slip faces in shadow, ripples towards the front. */
export function paintDunes(scene: Scene): void {
  const random = scene.random('dunes');
  const horizon = Math.round(scene.height * random.range(0.26, 0.42));
  const lightX = random.range(0.12, 0.88);
  const sky = skyAt(scene, random.pick<Time>(['dawn', 'dusk', 'dusk', 'noon']), naturalSky);
  paintSkyGradient(scene, sky, horizon, scene.height);
  paintAbove(scene, sky, horizon, lightX);
  scene.tick(0.15);
  const height = duneHeight(scene);
  let highest = 0;
  for (let z = 0.4; z < 3; z += 0.2)
    highest = Math.max(highest, height(0, z), height(-0.5, z), height(0.5, z));
  paintTerrain(
    scene.canvas,
    {
      focal: scene.side * random.range(0.95, 1.25),
      height: random.range(0.75, 1.05),
      horizon,
      center: scene.width / 2,
    },
    {
      near: 0.8,
      far: 26,
      rows: Math.round(scene.side * mix(0.66, 0.84, scene.detail)),
      height,
      shade: sandShader(scene, sky, lightX < 0.5 ? -1 : 1),
    },
    (share) => scene.tick(0.15 + share * 0.85),
  );
  const birds = scene.presence('bird', 0.08);
  if (birds > 0)
    drawFlock(
      scene.canvas,
      scene.width * (1 - lightX),
      horizon * 0.5,
      scene.side * 0.013,
      random,
      [0.02, 0.018, 0.02],
    );
}

function paintAbove(scene: Scene, sky: Sky, horizon: number, lightX: number): void {
  const random = scene.random('above');
  paintStars(scene, horizon, sky.night);
  const radius = scene.side * random.range(0.03, 0.055);
  const disc = { x: scene.width * lightX, y: horizon * random.range(0.35, 0.85), radius, halo: 7 };
  if (scene.presence('moon', sky.night * 0.8) > 0)
    paintMoon(scene, { ...disc, light: [1.2, 1.15, 1.05] }, random.pick([1, 0.6, 0.4]));
  else if (scene.presence('sun', 0.7) > 0) paintSun(scene, { ...disc, light: scale(sky.light, 1.5) });
  const cover = Math.max(scene.presence('cloud', 0.35) * 0.45, scene.mood('storm', 0) * 0.8);
  if (cover <= 0.05) return;
  const lit = add(scale(sky.light, 0.3), scale(sky.horizon, 0.7));
  paintClouds(scene, {
    horizon,
    cover,
    lit,
    shade: scale(sky.middle, 0.85),
    lightX: disc.x,
    lightY: disc.y,
    stretch: 2.6,
  });
}

/**
 * Each row of dunes rises gently to a crest and falls steeply behind it, like a saw tooth. Noise bends the crests, and
 * smaller rows lie on larger ones.
 */
function duneHeight(scene: Scene): (x: number, z: number) => number {
  const noise = scene.noise('dunes');
  const random = scene.random('wind');
  const turn = random.range(0.35, 1.3) * (random.chance(0.5) ? 1 : -1);
  const calm = scene.mood('calm', 0.3);
  const density = scene.mood('density', 0);
  const wave = random.range(0.2, 0.3) * (1 + density * 0.35);
  const size = random.range(1, 1.4) * mix(1.1, 0.75, calm);
  const saw = (phase: number, steep: number, blunt: number): number => {
    const t = phase - Math.floor(phase);
    const up = t / steep;
    const down = (1 - t) / (1 - steep);
    // The crest is rounded over the distance of two terrain rows. A sharper one would look serrated.
    const share = unit(0.5 + (0.5 * (down - up)) / blunt);
    const rise = Math.max(0, mix(down, up, share) - blunt * share * (1 - share));
    return rise * rise * (1.55 - 0.55 * rise);
  };
  return (x, z) => {
    const bent = noise.at(x * 0.15 + 5, z * 0.12) * 1.3 + noise.at(x * 0.42, z * 0.36 + 7) * 0.26;
    const along = z * wave + x * wave * turn + bent;
    const tall = 0.35 + 0.65 * smooth(-0.5, 0.5, noise.at(x * 0.11 + 30, z * 0.1));
    const great = saw(along, 0.76, Math.min(0.7, 0.03 + z * 0.034)) * tall * size;
    const small =
      saw(
        along * 2.7 + noise.at(x * 0.6 + 60, z * 0.6) * 0.8 + x * 0.35,
        0.66,
        Math.min(0.9, 0.06 + z * 0.06),
      ) *
      0.1 *
      (1 - tall * 0.5);
    return great + small * smooth(0.6, 2, z) - 0.35;
  };
}

function sandShader(scene: Scene, sky: Sky, side: number): (point: Vertex, color: Float32Array) => void {
  const noise = scene.noise('sand');
  const random = scene.random('sand');
  const hue = random.pick([62, 68, 55, 75, 35, 40]);
  const sand = scene.tint('key', [random.range(0.74, 0.84), random.range(0.075, 0.12), hue]);
  const dark = scene.tint('accent', [0.42, 0.075, hue - 25]);
  const snow = scene.mood('snow', 0);
  const body = blend(sand, [0.82, 0.84, 0.88], snow * 0.85);
  const mist = mix(0.35, 1.6, scene.mood('mist', 0.25));
  const haze = add(scale(sky.horizon, 0.75), scale(sky.light, 0.08));
  const shadow: Rgb = add(scale(sky.zenith, 0.85), scale(sky.middle, 0.35));
  const lx = side * 0.86;
  const low = random.range(0.3, 0.5);
  const lz = random.range(-0.3, 0.35);
  const fine = mix(0.6, 1, scene.detail);
  return (point, color) => {
    const { x, z, height } = point;
    const near = exp(-z * 0.26);
    const phase = x * 44 + z * 70 + noise.at(x * 1.3, z * 1.3) * 7 + noise.at(x * 0.35, z * 0.35) * 20;
    const ripple = sin(phase) * near * 0.26 * fine * smooth(0.75, 0.3, Math.abs(point.slopeZ));
    const slopeX = point.slopeX + ripple * 0.8;
    const slopeZ = point.slopeZ + ripple;
    const length = 1 / Math.sqrt(1 + slopeX * slopeX + slopeZ * slopeZ);
    const facing = (-slopeX * lx + low - slopeZ * lz) * length;
    const lit = smooth(-0.06, 0.75, facing);
    const speck = 1 + noise.at(x * 60, z * 60) * 0.09 * near;
    const veil = unit((1 - exp(-Math.max(0, z - 2) * 0.05 * mist)) * (1 - height * 0.25));
    const tone = clamp(0.5 + noise.fbm(x * 0.5, z * 0.5, 2), 0, 1);
    for (let c = 0; c < 3; c += 1) {
      const grain = mix(body[c]!, dark[c]!, tone * 0.28) * speck;
      const value = grain * (sky.light[c]! * lit * 0.92 + shadow[c]! * (0.42 + 0.3 * length));
      color[c] = value + (haze[c]! - value) * veil;
    }
  };
}
