import { addGlow, addPixel } from './canvas.ts';
import { scale } from './color.ts';
import type { Rgb } from './color.ts';
import { exp, mix, smooth } from './math.ts';
import type { Scene } from './scene.ts';

/** Weather in front of the scene. The prompt decides which. */
export interface Weather {
  /** The row of the horizon or shore, where mist hangs. */
  horizon: number;
  /** The light that drops, flakes and mist scatter. */
  light: Rgb;
}

/** Mist, rain and snow in front of everything that is painted so far. */
export function paintWeather(scene: Scene, { horizon, light }: Weather): void {
  const mist = scene.mood('mist', 0);
  if (mist > 0.05) paintMist(scene, horizon, light, mist);
  const rain = scene.mood('rain', 0);
  if (rain > 0.05) paintRain(scene, light, rain);
  const snow = scene.mood('snow', 0);
  if (snow > 0.35) paintSnow(scene, light, snow);
}

/** Banks of mist along the horizon, thinner upwards and towards the viewer. */
function paintMist(scene: Scene, horizon: number, light: Rgb, amount: number): void {
  const { width, height, side, canvas } = scene;
  const noise = scene.noise('mist');
  const reach = side * 0.11;
  const drift = new Float32Array(width);
  for (let y = 0; y < height; y += 1) {
    const from = y - horizon;
    const near = exp(-(from * from) / (reach * reach * (from > 0 ? 2.2 : 1)));
    if (near < 0.01) continue;
    if (y % 2 === 0) {
      for (let x = 0; x < width; x += 1)
        drift[x] = smooth(-0.55, 0.45, noise.fbm((x / side) * 1.6, (y / side) * 9, 3));
    }
    for (let x = 0, at = y * width * 3; x < width; x += 1, at += 3) {
      const share = amount * near * (0.3 + 0.6 * drift[x]!);
      for (let c = 0; c < 3; c += 1) canvas.light[at + c]! += (light[c]! - canvas.light[at + c]!) * share;
    }
  }
}

/** Slanting streaks, longer and fainter the nearer they are. */
function paintRain(scene: Scene, light: Rgb, amount: number): void {
  const { width, height, side, canvas } = scene;
  const random = scene.random('rain');
  const lean = random.range(0.08, 0.3) * (random.chance(0.5) ? 1 : -1);
  const count = Math.round(amount * ((width * height) / (side * side)) * mix(700, 1300, scene.detail));
  for (let i = 0; i < count; i += 1) {
    const near = random.unit();
    const long = side * mix(0.015, 0.07, near * near);
    const x = random.range(-0.1, 1.1) * width;
    const y = random.range(-0.05, 1) * height;
    const glint = scale(light, mix(0.26, 0.12, near) * amount);
    for (let step = 0; step < long; step += 1) {
      addPixel(
        canvas,
        Math.floor(x + step * lean),
        Math.floor(y + step),
        glint,
        smooth(0, 0.5, step / long) * smooth(1, 0.7, step / long),
      );
    }
  }
}

/** Flakes: many small ones in focus, a few large ones near and blurred. */
function paintSnow(scene: Scene, light: Rgb, amount: number): void {
  const { width, height, side, canvas } = scene;
  const random = scene.random('snow');
  const count = Math.round(amount * ((width * height) / (side * side)) * mix(420, 700, scene.detail));
  for (let i = 0; i < count; i += 1) {
    const rare = random.unit();
    const near = rare * rare * rare * rare * rare;
    const radius = side * mix(0.0007, 0.008, near);
    const x = random.unit() * width;
    const y = random.unit() * height;
    addGlow(canvas, x, y, Math.max(0.7, radius), scale(light, mix(0.75, 0.12, Math.sqrt(near))));
  }
}

/** A bolt from the clouds to a row, and the light that it throws on the sky around it. */
export function paintLightning(scene: Scene, x: number, bottom: number): void {
  const random = scene.random('lightning');
  const { side } = scene;
  const light = scene.tint('accent', [0.93, 0.04, 280]);
  addGlow(scene.canvas, x, bottom * 0.25, side * 0.38, scale(light, 0.22), 0.8);
  const branch = (fromX: number, fromY: number, toX: number, toY: number, power: number): void => {
    let [px, py] = [fromX, fromY];
    const steps = Math.max(4, Math.round((toY - fromY) / (side * 0.014)));
    for (let step = 1; step <= steps; step += 1) {
      const t = step / steps;
      const x1 = mix(fromX, toX, t) + random.gauss() * side * 0.011 * (step < steps ? 1 : 0);
      const y1 = mix(fromY, toY, t);
      drawSpark(scene, px, py, x1, y1, scale(light, power * mix(1.2, 0.7, t)));
      if (power > 0.6 && random.chance(0.14))
        branch(
          x1,
          y1,
          x1 + random.range(-0.14, 0.14) * side,
          Math.min(bottom, y1 + random.range(0.06, 0.2) * side),
          power * 0.32,
        );
      [px, py] = [x1, y1];
    }
  };
  branch(x + random.range(-0.08, 0.08) * side, bottom * random.range(-0.02, 0.12), x, bottom, 1.7);
}

function drawSpark(scene: Scene, x0: number, y0: number, x1: number, y1: number, light: Rgb): void {
  const length = Math.sqrt((x1 - x0) * (x1 - x0) + (y1 - y0) * (y1 - y0));
  const thick = Math.max(0.75, scene.side * 0.0011);
  for (let step = 0; step < length; step += 0.8) {
    const t = step / length;
    addGlow(scene.canvas, mix(x0, x1, t), mix(y0, y1, t), thick, scale(light, 0.7));
    if (Math.floor(step) % 7 === 0)
      addGlow(scene.canvas, mix(x0, x1, t), mix(y0, y1, t), thick * 7, scale(light, 0.035));
  }
}
