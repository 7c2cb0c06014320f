import type { Rgb } from './color.ts';
import { boulder, box, brilliant, crystal, cylinder, ellipsoid, frustum, place } from './forms.ts';
import { cos, log, sin, TAU } from './math.ts';
import type { Random } from './random.ts';
import type { Material, Solid } from './solids.ts';

/** The sculptures of the studio. Each stands on the floor at the origin and is about two units tall. */

export interface Materials {
  glass: Material;
  /** A second glass, for accents. */
  accent: Material;
  metal: Material;
  /** Painted plaster, in the backdrop's colors. */
  plaster: Material;
}

export type Sculpture = (materials: Materials, random: Random) => Solid[];

/** Glass that passes these shares of red, green and blue per unit of length. */
export function glass(color: Rgb, index = 1.5): Material {
  // The shares are kept away from 0 and 1, because of the logarithm.
  const density = (x: number): number => -log(Math.max(0.02, Math.min(0.985, x)));
  return {
    kind: 'glass',
    color: [density(color[0]), density(color[1]), density(color[2])],
    gloss: 1,
    index,
  };
}

const gem: Sculpture = ({ glass: main, accent }, random) => {
  const radius = random.range(0.95, 1.2);
  const tilt = random.range(0.35, 0.75);
  const way = random.range(0, TAU);
  const stone = brilliant(
    main,
    place([0, radius * 0.83, 0], random.range(0, 1), tilt, way),
    radius,
    random.pick([7, 8, 9]),
  );
  const small = random.int(1, 3);
  const stones = Array.from({ length: small }, (_, i) => {
    const size = random.range(0.2, 0.36);
    const angle = way + 1.4 + i * random.range(0.9, 1.8);
    const away = random.range(1.35, 1.9);
    const at = [cos(angle) * away, size * 0.78, sin(angle) * away * 0.7 - 0.2] as const;
    return brilliant(
      i % 2 === 0 ? accent : main,
      place(at, random.unit(), random.range(0.6, 0.9), random.range(0, TAU)),
      size,
      8,
    );
  });
  return [stone, ...stones];
};

const cluster: Sculpture = ({ glass: main, accent }, random) => {
  const count = random.int(5, 9);
  const spin = random.range(0, TAU);
  return Array.from({ length: count }, (_, i) => {
    const inner = i === 0;
    const angle = spin + i * 2.4;
    const away = inner ? 0 : random.range(0.32, 0.78);
    const height = inner ? random.range(2.2, 2.7) : random.range(0.7, 1.8) * (1.15 - away * 0.5);
    const at = [cos(angle) * away, -0.05, sin(angle) * away * 0.8] as const;
    const lean = inner ? random.range(-0.08, 0.08) : away * random.range(0.3, 0.6);
    return crystal(
      i % 4 === 3 ? accent : main,
      place(at, 0, lean, angle),
      height * random.range(0.15, 0.21),
      height,
      random,
    );
  });
};

const orbs: Sculpture = ({ glass: main, accent, metal, plaster }, random) => {
  const radius = random.range(0.75, 1);
  const solids: Solid[] = [ellipsoid(main, place([0, radius, 0]), [radius, radius, radius])];
  const count = random.int(3, 5);
  const spin = random.range(0, TAU);
  for (let i = 0; i < count; i += 1) {
    const size = random.range(0.16, 0.46);
    const angle = spin + (i / count) * TAU + random.range(-0.3, 0.3);
    const away = radius + size * random.range(1, 2.2);
    const material = [accent, metal, main, plaster][i % 4]!;
    solids.push(
      ellipsoid(material, place([cos(angle) * away, size, sin(angle) * away * 0.75]), [size, size, size]),
    );
  }
  return solids;
};

const stone: Sculpture = ({ glass: main, accent }, random) => {
  const tall = random.range(1.05, 1.35);
  const wide = random.range(0.75, 1);
  const body = boulder(
    main,
    place([0, tall * 0.86, 0], random.range(0, TAU), random.range(-0.15, 0.15)),
    [wide, tall, wide * 0.9],
    random.int(22, 40),
    random,
  );
  const angle = random.range(0, TAU);
  const pebble = random.range(0.26, 0.4);
  const at = [cos(angle) * 1.5, pebble * 0.8, -0.5 - Math.abs(sin(angle)) * 0.5] as const;
  return [body, boulder(accent, place(at), [pebble * 1.2, pebble, pebble], 20, random)];
};

const bottle: Sculpture = ({ glass: main, accent, metal }, random) => {
  const yaw = random.range(0.25, 0.7) * (random.chance(0.5) ? 1 : -1);
  const at = place([0, 0, 0], yaw);
  const up = (y: number): ReturnType<typeof place> => place([0, y, 0], yaw);
  const kind = random.int(0, 2);
  const height = random.range(0.62, 0.85);
  const wide = random.range(0.55, 0.75);
  const body =
    kind === 0
      ? box(main, at, [wide, height, wide * 0.55], 0.1)
      : kind === 1
        ? frustum(main, at, random.pick([6, 8, 10]), wide * 0.95, wide * 0.6, height * 2)
        : cylinder(main, at, wide * 0.8, height * 2);
  const top = height * 2;
  const collar = cylinder(metal, up(top), 0.2, 0.14);
  const cap = random.chance(0.5)
    ? ellipsoid(accent, up(top + 0.14 + 0.3), [0.3, 0.3, 0.3])
    : box(metal, up(top + 0.14), [0.24, 0.24, 0.24], 0.04);
  return [body, collar, cap];
};

const flower: Sculpture = ({ glass: main, accent, metal }, random) => {
  const petals = random.int(8, 11);
  const heart = [0, 1.22, 0] as const;
  const solids: Solid[] = [ellipsoid(metal, place(heart), [0.2, 0.2, 0.2])];
  const spin = random.range(0, TAU);
  for (const ring of [0, 1]) {
    const count = ring === 0 ? petals : Math.round(petals * 0.6);
    const length = ring === 0 ? 0.62 : 0.42;
    for (let i = 0; i < count; i += 1) {
      const angle = spin + ((i + ring * 0.5) / count) * TAU;
      const away = ring === 0 ? 0.66 : 0.42;
      const at = [cos(angle) * away, heart[1] + sin(angle) * away, ring === 0 ? 0.05 : -0.18] as const;
      solids.push(
        ellipsoid(ring === 0 ? main : accent, upright(at, angle), [length * 0.62, length * 0.3, 0.1]),
      );
    }
  }
  solids.push(cylinder(metal, place([0, 0, 0.1]), 0.035, 0.7));
  return solids;
};

/** Turned in the picture's plane: local x points along `angle` from the horizontal. */
function upright(at: readonly [number, number, number], angle: number): ReturnType<typeof place> {
  const c = cos(angle);
  const s = sin(angle);
  return {
    rows: [
      [c, s, 0],
      [-s, c, 0],
      [0, 0, 1],
    ],
    at,
  };
}

const city: Sculpture = ({ glass: main, accent, plaster, metal }, random) => {
  const solids: Solid[] = [];
  const yaw = random.range(0.3, 0.8);
  for (let i = 0; i < 9; i += 1) {
    const column = (i % 3) - 1;
    const line = Math.floor(i / 3) - 1;
    const middle = column === 0 && line === 0;
    const height = middle ? random.range(1.05, 1.3) : random.range(0.25, 0.95);
    const wide = random.range(0.17, 0.25);
    const x = column * 0.56;
    const z = line * 0.56;
    const at = [x * cos(yaw) - z * sin(yaw), 0, x * sin(yaw) + z * cos(yaw)] as const;
    const material = [main, plaster, main, accent, main, metal, plaster, main, accent][(i * 4 + 2) % 9]!;
    solids.push(box(middle ? main : material, place(at, -yaw), [wide, height, wide], 0.025));
  }
  return solids;
};

const totem: Sculpture = ({ glass: main, accent, plaster, metal }, random) => {
  const solids: Solid[] = [];
  let base = 0;
  const count = random.int(4, 6);
  for (let i = 0; i < count; i += 1) {
    const wide = (random.range(0.4, 0.85) * (1.35 - i / count)) / 1.1;
    const high = random.range(0.14, 0.3);
    const at = [random.range(-0.06, 0.06), base + high, 0] as const;
    const material = [main, plaster, accent, main, metal, main][i % 6]!;
    const round = random.chance(0.6);
    solids.push(
      round
        ? ellipsoid(material, place(at, random.range(0, 3)), [wide, high, wide * random.range(0.8, 1)])
        : cylinder(material, place([at[0], base, at[2]]), wide * 0.8, high * 2),
    );
    base += high * 1.96;
  }
  solids.push(ellipsoid(main, place([0, base + 0.24, 0]), [0.24, 0.24, 0.24]));
  return solids;
};

const vase: Sculpture = ({ accent, plaster, glass: main }, random) => {
  const clay: Material = { ...plaster, gloss: 0.9 };
  const belly = random.range(0.6, 0.82);
  const neck = random.range(0.16, 0.26);
  const tall = random.range(0.55, 0.75);
  const body = ellipsoid(clay, place([0, tall * 0.82, 0]), [belly, tall, belly]);
  const foot = Float64Array.from([0, -1, 0, 0]);
  const shoulder = tall * 1.62;
  const long = random.range(0.25, 0.7);
  const solids = [
    { ...body, planes: foot },
    cylinder(clay, place([0, shoulder - 0.1, 0]), neck, long + 0.1),
    ellipsoid(clay, place([0, shoulder, 0]), [neck * 1.5, 0.1, neck * 1.5]),
    ellipsoid(clay, place([0, shoulder + long, 0]), [neck * 1.45, 0.055, neck * 1.45]),
  ];
  const side = random.chance(0.5) ? 1 : -1;
  solids.push(ellipsoid(main, place([side * (belly + 0.5), 0.34, -0.5]), [0.34, 0.34, 0.34]));
  solids.push(ellipsoid(accent, place([side * (belly + 1.05), 0.18, -0.75]), [0.18, 0.18, 0.18]));
  return solids;
};

const ring: Sculpture = ({ glass: main, accent, metal }, random) => {
  const count = random.int(16, 22);
  const radius = random.range(0.92, 1.05);
  const middle = radius + 0.22;
  const solids = Array.from({ length: count }, (_, i) => {
    const angle = (i / count) * TAU;
    const at = [cos(angle) * radius, middle + sin(angle) * radius, 0] as const;
    const placement = upright([at[0], at[1], 0], angle);
    return box(i % 3 === 0 ? accent : main, { ...placement, at }, [0.2, 0.06, 0.2], 0.03);
  });
  solids.push(ellipsoid(metal, place([0, middle, 0]), [0.34, 0.34, 0.34]));
  return solids;
};

export const sculptures = { gem, cluster, orbs, stone, bottle, flower, city, totem, vase, ring };
export type SculptureName = keyof typeof sculptures;
