import { readFileSync } from 'node:fs';

/** The colours of the dashboard's theme that the sign-in pages use, each as eight hexadecimal digits. */
type Colors = (name: string) => string;

const dashboard = new URL('../dashboard/', import.meta.url);
const themeCss = readFileSync(new URL('src/index.css', dashboard), 'utf8');
const modes = { lightMode: colorsOf('@theme static'), darkMode: colorsOf('.dark') };

/** @param selector of the block of the dashboard's style sheet that sets a theme's colours */
function colorsOf(selector: string): Colors {
  const start = themeCss.indexOf(`\n${selector} {`);
  const block = themeCss.slice(start, themeCss.indexOf('\n}', start));
  const found = block.matchAll(/--color-([a-z-]+): oklch\(([\d.]+) ([\d.]+) ([\d.]+)\);/g);
  const colors = new Map<string, string>();
  for (const [, name, lightness, chroma, hue] of found) {
    colors.set(name!, hexOfOklch(Number(lightness), Number(chroma), Number(hue)));
  }
  return (name) => {
    const color = colors.get(name);
    if (color === undefined) throw new Error(`The dashboard's theme has no colour ${name} at ${selector}.`);
    return color;
  };
}

/** The same settings for both modes, each in its colours. */
function inBoth<Settings>(settings: (color: Colors) => Settings): {
  lightMode: Settings;
  darkMode: Settings;
} {
  return { lightMode: settings(modes.lightMode), darkMode: settings(modes.darkMode) };
}

const radiusPx = 8;
const cardRadiusPx = 16;

/**
 * Settings of managed login in the dashboard's look. They have no font: Cognito's own stays. What is left out stays as
 * Cognito has it. The members are those of AWS::Cognito::ManagedLoginBranding's `Settings`.
 */
export const signInSettings = {
  categories: {
    form: {
      displayGraphics: false,
      instructions: { enabled: false },
      languageSelector: { enabled: false },
      location: { horizontal: 'CENTER', vertical: 'CENTER' },
      sessionTimerDisplay: 'NONE',
    },
    global: {
      // As the browser asks for, like the dashboard.
      colorSchemeMode: 'DYNAMIC',
      pageHeader: { enabled: false },
      pageFooter: { enabled: false },
      spacingDensity: 'REGULAR',
    },
  },
  componentClasses: {
    buttons: { borderRadius: radiusPx },
    divider: inBoth((color) => ({ borderColor: color('border') })),
    focusState: inBoth((color) => ({ borderColor: color('ring') })),
    input: {
      borderRadius: radiusPx,
      ...inBoth((color) => ({
        defaults: { backgroundColor: color('card'), borderColor: color('input') },
        placeholderColor: color('muted-foreground'),
      })),
    },
    inputDescription: inBoth((color) => ({ textColor: color('muted-foreground') })),
    inputLabel: inBoth((color) => ({ textColor: color('foreground') })),
    link: inBoth((color) => ({
      defaults: { textColor: color('foreground') },
      hover: { textColor: color('muted-foreground') },
    })),
    optionControls: inBoth((color) => ({
      defaults: { backgroundColor: color('card'), borderColor: color('input') },
      selected: { backgroundColor: color('primary'), foregroundColor: color('primary-foreground') },
    })),
    statusIndicator: inBoth((color) => ({
      error: statusOf(color, 'destructive'),
      success: statusOf(color, 'success'),
      warning: statusOf(color, 'warning'),
      pending: { indicatorColor: color('muted-foreground') },
    })),
  },
  components: {
    alert: {
      borderRadius: radiusPx,
      ...inBoth((color) => ({
        error: { backgroundColor: color('destructive-muted'), borderColor: color('destructive') },
      })),
    },
    favicon: { enabledTypes: ['SVG'] },
    form: {
      backgroundImage: { enabled: false },
      borderRadius: cardRadiusPx,
      logo: { enabled: true, formInclusion: 'IN', location: 'CENTER', position: 'TOP' },
      ...inBoth((color) => ({ backgroundColor: color('card'), borderColor: color('border') })),
    },
    pageBackground: {
      image: { enabled: false },
      ...inBoth((color) => ({ color: color('background') })),
    },
    pageText: inBoth((color) => ({
      headingColor: color('foreground'),
      bodyColor: color('foreground'),
      descriptionColor: color('muted-foreground'),
    })),
    primaryButton: inBoth((color) => {
      const text = { textColor: color('primary-foreground') };
      return {
        defaults: { backgroundColor: color('primary'), ...text },
        hover: { backgroundColor: color('muted-foreground'), ...text },
        active: { backgroundColor: color('muted-foreground'), ...text },
        disabled: { backgroundColor: color('secondary'), borderColor: color('secondary') },
      };
    }),
    secondaryButton: inBoth((color) => {
      const rest = { borderColor: color('input'), textColor: color('foreground') };
      return {
        defaults: { backgroundColor: color('card'), ...rest },
        hover: { backgroundColor: color('accent'), ...rest },
        active: { backgroundColor: color('accent'), ...rest },
      };
    }),
  },
};

function statusOf(color: Colors, name: string) {
  return {
    backgroundColor: color(`${name}-muted`),
    borderColor: color(name),
    indicatorColor: color(name),
  };
}

const favicon = readFileSync(new URL('public/favicon.svg', dashboard), 'utf8');

/** The dashboard's logo as images of managed login. */
export const signInImages = [
  imageOf('FAVICON_SVG', 'DYNAMIC', favicon),
  imageOf('FORM_LOGO', 'LIGHT', logoIn(modes.lightMode('foreground'))),
  imageOf('FORM_LOGO', 'DARK', logoIn(modes.darkMode('foreground'))),
];

/** The favicon's shapes in one colour: an image of a page does not know which theme the page has. */
function logoIn(color: string): string {
  return favicon
    .replace(/<style>.*?<\/style>\s*/s, '')
    .replace('<svg ', `<svg width="32" height="32" fill="#${color.slice(0, 6)}" `);
}

function imageOf(category: string, colorMode: string, svg: string) {
  return { category, colorMode, extension: 'SVG', bytes: Buffer.from(svg).toString('base64') };
}

/**
 * A colour of CSS as eight hexadecimal digits: red, green, blue, and an alpha of 1. What sRGB can't show is clipped.
 * The matrices are those of Oklab's author: https://bottosson.github.io/posts/oklab/
 * @param lightness from 0 to 1
 * @param hueDegrees from 0 to 360
 */
function hexOfOklch(lightness: number, chroma: number, hueDegrees: number): string {
  const hue = (hueDegrees * Math.PI) / 180;
  const a = chroma * Math.cos(hue);
  const b = chroma * Math.sin(hue);
  const long = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3;
  const medium = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3;
  const short = (lightness - 0.0894841775 * a - 1.291485548 * b) ** 3;
  const channels = [
    4.0767416621 * long - 3.3077115913 * medium + 0.2309699292 * short,
    -1.2684380046 * long + 2.6097574011 * medium - 0.3413193965 * short,
    -0.0041960863 * long - 0.7034186147 * medium + 1.707614701 * short,
  ];
  return `${channels.map(hexOfLinear).join('')}ff`;
}

/** A channel of linear light, from 0 to 1, as sRGB writes it. */
function hexOfLinear(linear: number): string {
  const encoded = linear <= 0.0031308 ? 12.92 * linear : 1.055 * linear ** (1 / 2.4) - 0.055;
  const byte = Math.round(Math.min(1, Math.max(0, encoded)) * 255);
  return byte.toString(16).padStart(2, '0');
}
