import type { Rgb } from '../color.ts';
import { clamp, mix, smooth, unit } from '../math.ts';
import type { Scene } from '../scene.ts';
import { paintTerrain } from '../terrain.ts';

/** What an aurora hangs over. */
export interface Plan {
  horizon: number;
  /** Rows of water below the horizon, 0 without. */
  lake: number;
  peaks: number;
  lightX: number;
  /** Row in which the rays would meet: far above, or in the picture for a corona. */
  apex: number;
  trees: number;
}

/** Mountains and snow in the light of the sky above them; `ambient` is its left, middle and right. */
export function paintLand(scene: Scene, plan: Plan, ambient: Rgb[], skyLight: Rgb, haze: Rgb): void {
  const noise = scene.noise('land');
  const camera = {
    focal: scene.side * 0.95,
    height: plan.lake > 0 ? 0.05 : 0.2,
    horizon: plan.horizon,
    center: scene.width / 2,
  };
  const snowline = mix(0.3, -0.35, scene.mood('snow', 0.5));
  const snow = scene.tint('ground', [0.92, 0.02, 235]);
  const rock = scene.tint('ground', [0.27, 0.02, 250]);
  const mist = scene.mood('mist', 0.25);
  const side = plan.lightX < 0.5 ? -1 : 1;
  paintTerrain(
    scene.canvas,
    camera,
    {
      near: plan.lake > 0 ? 3 : 0.55,
      far: 17,
      rows: Math.round(scene.side * mix(0.34, 0.46, scene.detail)),
      height: landHeight(scene, plan),
      shade: (point, color) => {
        const length = 1 / Math.sqrt(1 + point.slopeX * point.slopeX + point.slopeZ * point.slopeZ);
        const grain = noise.fbm(point.x * 5.1, point.z * 5.1 + point.height * 7, 3);
        const white = smooth(snowline, snowline + 0.22, length - 0.55 + grain * 0.5);
        const across = unit(0.5 + (point.x / point.z) * 0.55);
        const facing = clamp((point.slopeX * side * 1.1 + 0.6 - point.slopeZ * 0.4) * length, 0.03, 1.3);
        const fog =
          unit((point.z - 3) * 0.045 * (0.4 + mist * 1.8)) * (0.35 + 0.65 * smooth(0.8, 0, point.height));
        // The plain in front gets less light, so the picture is darker towards its lower edge.
        const front = mix(0.3, 1, smooth(0.5, 4, point.z)) * (1 + grain * 0.35);
        for (let c = 0; c < 3; c += 1) {
          const aurora = mix(
            mix(ambient[0]![c]!, ambient[1]![c]!, Math.min(1, across * 2)),
            ambient[2]![c]!,
            Math.max(0, across * 2 - 1),
          );
          const received = (aurora * 2.8 * facing + skyLight[c]! * (0.3 + 0.4 * length)) * front;
          color[c] = mix(mix(rock[c]!, snow[c]!, white) * received, haze[c]! * 0.7 + aurora * 0.4, fog);
        }
      },
    },
    (share) => scene.tick(0.5 + share * 0.3),
  );
}

/** Mountains that rise from a plain or a shore, with a gap somewhere between them. */
function landHeight(scene: Scene, plan: Plan): (x: number, z: number) => number {
  const noise = scene.noise('land');
  const octaves = 5 + Math.round(scene.detail * 3);
  const shore = plan.lake > 0 ? 3.2 : 0;
  const gapX = scene.random('land').range(-2.2, 2.2);
  return (x, z) => {
    const mountains = smooth(3.6, 9, z) * plan.peaks;
    const gap = 0.3 + 0.7 * smooth(0, 3.6, Math.abs(x - gapX));
    const bendX = x + noise.at(x * 0.35, z * 0.35 + 9) * 0.8;
    const ridge = noise.ridged(bendX * 0.21 + 7, z * 0.21, octaves) - 0.3;
    const drifts = noise.at(x * 0.7 + z * 0.3, z * 1.1 + 40) * 0.05 + noise.fbm(x * 2.4, z * 3.1, 2) * 0.012;
    const beach = shore > 0 ? smooth(shore, shore + 2.2, z + noise.at(x * 0.9, 3) * 0.9) : 1;
    return (
      (Math.max(-0.05, ridge) * mountains * 3.1 * gap + drifts * (0.5 + mountains * 2)) * beach -
      (1 - beach) * 0.06
    );
  };
}

/** Turns the picture above the shore upside down, drawn out by small waves and darkened by the water. */
export function mirrorLake(scene: Scene, plan: Plan): void {
  const { width, height, light } = scene.canvas;
  const noise = scene.noise('lake');
  const shore = plan.horizon + Math.round(scene.side * 0.0135);
  const rough = mix(0.9, 0.25, scene.mood('calm', 0.45));
  const deep = scene.tint('ambient', [0.16, 0.03, 245]);
  // The reflection is stretched, so that it shows more of the sky than a flat mirror would.
  const stretch = Math.min(1.7, (shore * 0.92) / (height - shore));
  for (let y = height - 1; y > shore; y -= 1) {
    const depth = (y - shore) / (height - shore);
    const near = 1 / (0.05 + depth);
    const loss = mix(0.82, 0.5, depth);
    for (let x = 0; x < width; x += 1) {
      const across = ((x - width / 2) / scene.side) * near * 1.4;
      const wave = noise.fbm(across * 1.4, near * 9, 3) * rough * (0.25 + depth);
      const fromY = clamp(shore - (y - shore) * stretch + wave * scene.side * 0.06, 0, shore - 1);
      const fromX = clamp(x + wave * scene.side * 0.008, 0, width - 2);
      const top = Math.floor(fromY);
      const from = (top * width + Math.floor(fromX)) * 3;
      const fy = fromY - top;
      const at = (y * width + x) * 3;
      for (let c = 0; c < 3; c += 1) {
        const seen = light[from + c]! + (light[from + c + width * 3]! - light[from + c]!) * fy;
        light[at + c] = seen * loss + deep[c]! * 0.2 * depth;
      }
    }
  }
}
