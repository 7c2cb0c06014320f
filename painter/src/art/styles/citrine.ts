import { add, blend, luminance, scale } from '../color.ts';
import type { Lch, Rgb } from '../color.ts';
import { lightFloor } from '../floor-light.ts';
import { box, cylinder, lift, place } from '../forms.ts';
import { cos, mix, sin } from '../math.ts';
import type { Scene } from '../scene.ts';
import { glass, sculptures } from '../sculptures.ts';
import type { Materials, SculptureName } from '../sculptures.ts';
import type { Solid } from '../solids.ts';
import { photograph } from '../photograph.ts';
import type { Lens } from '../photograph.ts';
import type { Panel, Studio } from '../studio.ts';
import type { Subject, Time } from '../vocabulary.ts';

const forSubject: Partial<Record<Subject, SculptureName>> = {
  mountain: 'cluster',
  forest: 'cluster',
  flower: 'flower',
  city: 'city',
  moon: 'orbs',
  star: 'gem',
  water: 'orbs',
  gem: 'gem',
  bottle: 'bottle',
  vase: 'vase',
  sphere: 'orbs',
  ring: 'ring',
  sun: 'ring',
  fire: 'cluster',
  lighthouse: 'totem',
  boat: 'stone',
};

const own: SculptureName[] = [
  'gem',
  'cluster',
  'orbs',
  'stone',
  'bottle',
  'totem',
  'gem',
  'ring',
  'cluster',
  'flower',
  'vase',
];

interface Backdrop {
  floor: Lch;
  wall: Lch;
  glow: Lch;
  power: number;
}

const backdrops: Record<Time, Backdrop[]> = {
  noon: [
    { floor: [0.86, 0.14, 90], wall: [0.84, 0.15, 86], glow: [0.94, 0.12, 95], power: 0.5 },
    { floor: [0.92, 0.05, 88], wall: [0.9, 0.06, 86], glow: [0.97, 0.05, 92], power: 0.4 },
    { floor: [0.78, 0.135, 76], wall: [0.72, 0.14, 70], glow: [0.9, 0.13, 86], power: 0.7 },
    { floor: [0.88, 0.03, 60], wall: [0.85, 0.035, 50], glow: [0.96, 0.05, 80], power: 0.5 },
  ],
  dawn: [{ floor: [0.86, 0.07, 55], wall: [0.82, 0.085, 30], glow: [0.95, 0.09, 80], power: 0.7 }],
  dusk: [{ floor: [0.66, 0.13, 55], wall: [0.5, 0.14, 30], glow: [0.85, 0.15, 65], power: 0.9 }],
  night: [{ floor: [0.3, 0.045, 75], wall: [0.22, 0.04, 70], glow: [0.62, 0.12, 78], power: 0.55 }],
};

/** A still life in a studio: something of yellow glass on a seamless backdrop, its shadow, its caustics. */
export function paintCitrine(scene: Scene): void {
  const { studio, sculpture } = planStudio(scene);
  scene.tick(0.05);
  studio.floorLight = lightFloor(
    studio,
    scene.random('photons'),
    Math.round(mix(40_000, 90_000, scene.detail)),
  );
  scene.tick(0.2);
  photograph(scene, studio, frameSubject(scene, sculpture));
}

/** A camera for which the sculpture, whatever its size, takes about two thirds of the height and is never cut off. */
function frameSubject(scene: Scene, sculpture: readonly Solid[]): Lens {
  const random = scene.random('camera');
  let top = 0;
  let wide = 0;
  for (const { center, radius } of sculpture) {
    top = Math.max(top, center[1] + radius * 0.92);
    wide = Math.max(wide, Math.abs(center[0]) + radius * 0.92);
  }
  const distance = random.range(7.6, 8.8);
  const share = random.range(0.56, 0.68);
  const forHeight = ((distance * scene.height) / scene.side) * (share / top);
  const forWidth = ((distance * scene.width) / scene.side) * (0.4 / wide);
  return {
    height: random.range(0.5, 2.6),
    distance,
    aim: top * random.range(0.42, 0.48),
    side: random.range(-0.45, 0.45),
    zoom: Math.min(forHeight, forWidth, 3.2),
  };
}

function planStudio(scene: Scene): { studio: Studio; sculpture: Solid[] } {
  const random = scene.random('studio');
  const backdrop = blendBackdrops(scene, random.int(0, 3));
  const side = random.chance(0.5) ? 1 : -1;
  const night = scene.time('noon').night;
  const warm = scene.tint('ambient', [0.97, 0.03, 85]);
  const key = [side * random.range(2, 3.2), random.range(4.2, 5.2), random.range(0.6, 2.8)] as const;
  const calm = scene.mood('calm', 0.3);
  const { sculpture, set } = planSolids(scene, backdrop.wall);
  const studio: Studio = {
    solids: [...sculpture, ...set],
    floor: backdrop.floor,
    wall: backdrop.wall,
    glow: {
      x: -side * random.range(0, 1.6),
      y: random.range(0.4, 2.2),
      reach: random.range(2.4, 3.6),
      light: backdrop.glow,
    },
    panels: planPanels(side, warm, night),
    key,
    keySize: mix(0.45, 1.1, calm),
    keyLight: scale(warm, mix(0.85, 0.6, night)),
    ambient: scale(blend(warm, backdrop.wall, 0.35), mix(0.42, 0.12, night)),
    polish: mix(0.55, 1, scene.mood('rain', 0)) * random.range(0.55, 1),
    floorLight: { reach: 1, cells: 2, values: new Float32Array(12).fill(1) },
  };
  return { studio, sculpture };
}

function blendBackdrops(scene: Scene, variant: number): { floor: Rgb; wall: Rgb; glow: Rgb } {
  const shares = scene.time('noon');
  let floor: Rgb = [0, 0, 0];
  let wall: Rgb = [0, 0, 0];
  let glow: Rgb = [0, 0, 0];
  for (const [time, share] of Object.entries(shares) as [Time, number][]) {
    const choice = backdrops[time][variant % backdrops[time].length]!;
    floor = add(floor, scale(scene.tint('ambient', choice.floor), share * 0.95));
    wall = add(wall, scale(scene.tint('ambient', choice.wall), share * 0.86));
    glow = add(glow, scale(scene.tint('ambient', choice.glow), share * choice.power * 0.55));
  }
  const mist = scene.mood('mist', 0);
  return { floor: blend(floor, wall, mist * 0.5), wall: blend(wall, [0.8, 0.8, 0.8], mist * 0.3), glow };
}

/** Two tall soft boxes beside the set, one above, and a thin bright strip for the edges. */
function planPanels(side: number, warm: Rgb, night: number): Panel[] {
  const power = mix(1, 0.8, night);
  return [
    {
      center: [0, 5.4, 0],
      normal: [0, -1, 0],
      across: [1, 0, 0],
      halfWidth: 2.2,
      halfHeight: 1.6,
      light: scale(warm, 2.6 * power),
    },
    {
      center: [side * 5, 2.4, -1],
      normal: [-side, 0, 0],
      across: [0, 0, 1],
      halfWidth: 1.3,
      halfHeight: 2.2,
      light: scale(warm, 3.2 * power),
    },
    {
      center: [-side * 5, 2, 1.5],
      normal: [side, 0, 0],
      across: [0, 0, 1],
      halfWidth: 0.35,
      halfHeight: 2.4,
      light: scale(warm, 4.5),
    },
    {
      center: [side * 1.5, 3.4, -9],
      normal: [0, 0, 1],
      across: [1, 0, 0],
      halfWidth: 1.6,
      halfHeight: 1,
      light: scale(warm, 1.4 * power),
    },
  ];
}

function planSolids(scene: Scene, wall: Rgb): { sculpture: Solid[]; set: Solid[] } {
  const random = scene.random('sculpture');
  const chosen = random.pick(own);
  const name =
    scene.wanted.map((subject) => forSubject[subject]).find((form) => form !== undefined) ?? chosen;
  const hue = random.range(70, 100);
  const main = scene.tint('key', [random.range(0.8, 0.9), random.range(0.15, 0.18), hue]);
  const second = scene.tint(
    'accent',
    random.pick<Lch>([
      [0.72, 0.16, 55],
      [0.9, 0.06, 95],
      [0.62, 0.13, 45],
      [0.78, 0.09, 200],
      [0.72, 0.12, 350],
    ]),
  );
  const pale = luminance(wall) > 0.45 ? 0.9 : 1.2;
  const materials: Materials = {
    // Cut stones sparkle because they reflect light inside, for which the index must be well above that of window glass.
    glass: glass(
      name === 'gem' || name === 'stone' ? blend(main, [1, 0.97, 0.85], 0.4) : main,
      name === 'gem' ? 1.9 : random.range(1.48, 1.62),
    ),
    accent: glass(second, 1.5),
    metal: { kind: 'metal', color: scene.tint('ground', [0.86, 0.09, 82]), gloss: 1, index: 1.5 },
    plaster: {
      kind: 'matte',
      color: scale(blend(wall, [0.85, 0.83, 0.8], 0.35), pale),
      gloss: 0.35,
      index: 1.5,
    },
  };
  const sculpture = sculptures[name](materials, random);
  const set = planSet(scene, materials);
  const podium = scene.random('podium');
  if (!podium.chance(0.35)) return { sculpture, set };
  const high = podium.range(0.14, 0.4);
  const wide = podium.range(1.35, 1.7);
  const base = podium.chance(0.6)
    ? cylinder(materials.plaster, place([0, 0, 0]), wide, high)
    : box(
        materials.plaster,
        place([0, 0, 0], podium.range(0, 1)),
        [wide * 0.85, high / 2, wide * 0.85],
        0.02,
      );
  return { sculpture: sculpture.map((solid) => lift(solid, high)), set: [base, ...set] };
}

/** What stands around the sculpture: a disc or slabs behind it, unless the picture should stay empty. */
function planSet(scene: Scene, { plaster }: Materials): Solid[] {
  const random = scene.random('set');
  const density = scene.mood('density', 0.1);
  const solids: Solid[] = [];
  const side = random.chance(0.5) ? 1 : -1;
  const disc = random.range(1.2, 1.7);
  const slab = random.range(0.8, 1.5);
  if (random.unit() < 0.38 + density * 0.4 || scene.wants('sun') || scene.wants('moon')) {
    // The disc's axis points to the camera. The disc stands on the floor or hangs above it.
    const at = [side * random.range(0.2, 0.9), disc * random.range(0.8, 1.15), 2.8] as const;
    const back = place(at, 0, Math.PI / 2, Math.PI / 2);
    solids.push(cylinder(plaster, back, disc, 0.12));
  }
  if (random.unit() < 0.3 + density * 0.5) {
    solids.push(
      box(
        plaster,
        place([-side * random.range(1.3, 1.9), 0, 1.7], random.range(-0.5, 0.5)),
        [0.32, slab * 0.8, 0.32],
        0.02,
      ),
    );
    if (random.chance(0.6)) {
      const at = [-side * random.range(2.2, 2.6), 0, 1.2] as const;
      solids.push(cylinder(plaster, place(at), random.range(0.3, 0.5), slab * 0.6));
    }
  }
  for (let i = 0; i < density * 4; i += 1) {
    const angle = random.range(0, 6.28);
    const size = random.range(0.1, 0.24);
    const at = [cos(angle) * 2.1, 0, sin(angle) * 1.2 - 0.8] as const;
    solids.push(
      random.chance(0.5)
        ? box(plaster, place(at, angle), [size, size, size], 0.02)
        : cylinder(plaster, place(at), size, size),
    );
  }
  return solids;
}
