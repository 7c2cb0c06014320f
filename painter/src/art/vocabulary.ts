import type { Lch } from './color.ts';

/** The words that the painter understands. Every other word of a prompt only changes the picture's random numbers. */

export type Time = 'dawn' | 'noon' | 'dusk' | 'night';

export type Mood = 'mist' | 'storm' | 'calm' | 'density' | 'warmth' | 'saturation' | 'snow' | 'rain';

export type Subject =
  | 'sun'
  | 'moon'
  | 'star'
  | 'mountain'
  | 'water'
  | 'forest'
  | 'city'
  | 'flower'
  | 'bird'
  | 'boat'
  | 'cloud'
  | 'lighthouse'
  | 'fire'
  | 'gem'
  | 'bottle'
  | 'vase'
  | 'sphere'
  | 'ring';

export interface Meaning {
  color?: Lch;
  time?: Time;
  mood?: Partial<Record<Mood, number>>;
  subject?: Subject;
}

const colors: Record<string, Lch> = {
  'red crimson scarlet ruby vermilion cherry': [0.58, 0.22, 27],
  'rose blush': [0.7, 0.16, 8],
  'pink salmon': [0.78, 0.14, 355],
  'coral terracotta': [0.7, 0.15, 38],
  'orange tangerine rust': [0.72, 0.18, 52],
  'amber honey saffron apricot': [0.78, 0.16, 72],
  'gold golden': [0.8, 0.145, 86],
  'yellow lemon': [0.88, 0.17, 102],
  'lime chartreuse': [0.84, 0.19, 124],
  'green olive jade': [0.66, 0.17, 146],
  'emerald mint sage': [0.7, 0.13, 162],
  'teal aquamarine': [0.64, 0.115, 190],
  'turquoise cyan aqua': [0.78, 0.12, 205],
  'blue azure cobalt sapphire': [0.56, 0.18, 258],
  'navy indigo ultramarine': [0.4, 0.16, 270],
  'violet lavender lilac': [0.6, 0.17, 295],
  'purple plum amethyst': [0.52, 0.19, 308],
  'magenta fuchsia': [0.6, 0.25, 332],
  'brown chocolate coffee walnut copper bronze': [0.5, 0.09, 52],
  'sand beige cream ivory linen': [0.88, 0.045, 82],
  'white pearl porcelain': [0.97, 0.005, 90],
  'silver grey gray monochrome ash': [0.68, 0.008, 250],
  'black obsidian onyx ebony': [0.16, 0.005, 270],
};

const times: Record<string, Time> = {
  'dawn sunrise morning daybreak': 'dawn',
  'noon midday day daylight bright sunny afternoon': 'noon',
  'dusk sunset evening twilight sundown': 'dusk',
  'night midnight nocturnal moonlit dark': 'night',
};

const moods: Record<string, Partial<Record<Mood, number>>> = {
  'mist misty fog foggy haze hazy ethereal dreamy': { mist: 1 },
  'clear crisp sharp': { mist: -1 },
  'storm stormy thunder lightning dramatic tempest': { storm: 1, calm: -0.6 },
  'wind windy wild turbulent': { storm: 0.5, calm: -1 },
  'calm serene quiet peaceful tranquil still gentle soft': { calm: 1, storm: -1 },
  'minimal minimalist simple sparse empty clean': { density: -1 },
  'dense rich busy intricate ornate detailed lush crowded': { density: 1 },
  'warm hot cosy cozy summer autumn': { warmth: 1 },
  'cold cool icy frozen winter arctic': { warmth: -1, snow: 0.3 },
  'vivid vibrant colourful colorful saturated neon': { saturation: 1 },
  'muted pastel pale faded matte desaturated': { saturation: -1 },
  'snow snowy snowfall blizzard': { snow: 1 },
  'rain rainy drizzle wet': { rain: 1, storm: 0.4 },
};

const subjects: Record<string, Subject> = {
  'sun solar': 'sun',
  'moon lunar crescent': 'moon',
  'star stars starry galaxy cosmos milky': 'star',
  'mountain peak summit hill cliff alps volcano': 'mountain',
  'sea ocean lake water river wave bay fjord shore beach': 'water',
  'forest tree pine wood woodland jungle spruce': 'forest',
  'city town skyline building street village house tower': 'city',
  'flower rose blossom petal garden meadow bloom tulip orchid lotus': 'flower',
  'bird gull seagull crane swallow flock geese': 'bird',
  'boat ship sail sailboat yacht vessel': 'boat',
  'cloud cloudy overcast': 'cloud',
  'lighthouse beacon': 'lighthouse',
  'fire flame lava ember magma': 'fire',
  'gem crystal diamond jewel prism quartz': 'gem',
  'bottle perfume flask fragrance cologne': 'bottle',
  'vase cup bowl ceramic pottery mug jar': 'vase',
  'sphere orb ball globe planet pearl bubble': 'sphere',
  'ring watch bracelet circle halo arch': 'ring',
};

const meanings = new Map<string, Meaning>();

function learn<T>(table: Record<string, T>, meaning: (value: T) => Meaning): void {
  for (const [words, value] of Object.entries(table)) {
    for (const word of words.split(' ')) meanings.set(word, { ...meanings.get(word), ...meaning(value) });
  }
}

learn(colors, (color) => ({ color }));
learn(times, (time) => ({ time }));
learn(moods, (mood) => ({ mood }));
learn(subjects, (subject) => ({ subject }));

/** The meanings of a text's known words, in its order. A simple plural means the same as its singular. */
export function recognize(text: string): Meaning[] {
  const words = text.toLowerCase().match(/\p{L}+/gu) ?? [];
  return words.flatMap((word) => {
    const meaning =
      meanings.get(word) ?? meanings.get(word.replace(/s$/, '')) ?? meanings.get(word.replace(/es$/, ''));
    return meaning ? [meaning] : [];
  });
}
