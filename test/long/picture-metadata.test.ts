import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { outputFormats } from '../../shared/images/image-types.ts';
import { openContract } from '../model-contract/fixture.ts';
import { keepFolder } from '../support/fixture.ts';
import { useFixture } from '../support/use-fixture.ts';

const fixture = useFixture(async (keep) => ({ ...(await openContract(keep)), folder: keepFolder(keep) }));

test.each(outputFormats.flatMap((format) => [false, true].map((embed) => ({ format, embed }))))(
  'ExifTool reads the mark of a model in a $format of the painter, and the prompt only where it is wanted: $embed',
  async ({ format, embed }) => {
    const asked = { prompt: 'Größe 漢字 🎨 "quoted" <b>&amp;', seed: 5 };
    const { pictures } = await fixture.generate({ ...asked, outputFormat: format, embedParameters: embed });
    const path = `${fixture.folder}/picture-${embed}.${format}`;
    writeFileSync(path, pictures[0]!.file);
    const wanted = ['XMP-iptcExt:DigitalSourceType', 'XMP-xmp:CreatorTool', 'XMP-exif:UserComment'];
    const tags = [...wanted, 'Warning', 'Error'].map((tag) => `-${tag}`);
    const said = execFileSync('exiftool', ['-json', '-n', ...tags, path], { encoding: 'utf8' });

    const [{ UserComment, ...found }] = JSON.parse(said);
    expect(found).toEqual({
      SourceFile: path,
      DigitalSourceType: 'http://cv.iptc.org/newscodes/digitalsourcetype/trainedAlgorithmicMedia',
      CreatorTool: 'painter-1',
    });
    expect(JSON.parse(UserComment)).toMatchObject({ seed: 5, width: 512, height: 512 });
    expect(JSON.parse(UserComment).prompt).toBe(embed ? asked.prompt : undefined);
  },
);
