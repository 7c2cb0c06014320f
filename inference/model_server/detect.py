"""
`python -m model_server.detect [--json] FILE…`: whether this deployment made pictures.

It goes by the same settings as the server (WATERMARK and what belongs to it, C2PA_CERTIFICATE), and needs
neither the model nor the private key. It ends with 0 where this deployment made every file, with 1 where one
shows no sign of that, and with 2 where one can't be read or a setting can't be used.
"""

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal, cast

from .c2pa.credentials import read_verifier
from .c2pa.manifest import is_signed
from .contract import OutputFormat
from .marks import Finding, Mark, load_mark
from .references import Unreadable, decode_reference, measure
from .settings import Settings, SettingsError
from .xmp import read_software

LIMIT_BYTES = 100 * 1024**2

#: Of Content Credentials: this deployment's and whole; a signature of its certificate that does not fit the
#: file; somebody else's; none; or there is no certificate here to compare them with.
State = Literal['valid', 'changed', 'other', 'absent', 'unchecked']


@dataclass(frozen=True)
class Verdict:
    """What a picture tells of where it comes from."""

    #: That this deployment made it. False means that nothing shows it: what shows it may have been removed.
    made_here: bool
    #: `certain` by a signature, `likely` by the mark, `low` where only metadata says that a model made it,
    #: which anybody can write.
    confidence: Literal['certain', 'likely', 'low', 'none']
    #: Which model, by the metadata.
    software: str | None
    credentials: State
    #: None where there was no looking for it: without a method, or in a picture that is too small.
    mark: Finding | None


class Detector:
    """Knows one deployment's certificate and mark."""

    def __init__(self, settings: Settings) -> None:
        """Raises SettingsError."""
        certificate = settings.c2pa_certificate
        self._verifier = None if certificate is None else read_verifier(certificate)
        self._mark: Mark | None = load_mark(settings)
        if self._verifier is None and self._mark is None:
            raise SettingsError(
                'Set WATERMARK and WATERMARK_KEY, or C2PA_CERTIFICATE: nothing can be found without.'
            )

    def judge(self, file: bytes) -> Verdict:
        """Of an animation the first frame counts. Raises Unreadable."""
        if len(file) > LIMIT_BYTES:
            raise Unreadable('is larger than 100 MiB')
        kind, _ = measure(file)
        # Checks its size before it decodes.
        image = decode_reference(file).reference.image.convert('RGB')
        software = read_software(file)
        credentials = self._credentials(file, cast('OutputFormat', kind.lower()), software)
        mark = None if self._mark is None else self._mark.find(image)
        is_marked = mark is not None and mark.found
        if credentials == 'valid':
            return Verdict(True, 'certain', software, credentials, mark)
        confidence: Literal['low', 'none'] = 'none' if software is None else 'low'
        return Verdict(is_marked, 'likely' if is_marked else confidence, software, credentials, mark)

    def _credentials(self, file: bytes, output_format: OutputFormat, software: str | None) -> State:
        # The type of the box that every manifest is in.
        if b'jumdc2pa' not in file:
            return 'absent'
        if self._verifier is None:
            return 'unchecked'
        credentials, verify = self._verifier
        if credentials.certificates[0] not in file:
            return 'other'
        is_ours = software is not None and is_signed(file, output_format, software, credentials, verify)
        return 'valid' if is_ours else 'changed'


def _sentence(verdict: Verdict) -> str:
    mark = verdict.mark
    answer = 'made here' if verdict.made_here else 'nothing shows that it was made here'
    looked = 'not looked for' if mark is None else f'{"" if mark.found else "not "}found ({mark.score:.1f})'
    # As Python writes it: whoever made the file must not speak to the terminal.
    software = f'metadata says {verdict.software!r}' if verdict.software else 'no metadata of a model'
    confidence = (
        f', confidence {verdict.confidence}'
        if verdict.made_here
        else ', which is no evidence that it was not'
    )
    return f'{answer}{confidence}: credentials {verdict.credentials}, mark {looked}, {software}'


def main(arguments: Sequence[str] | None = None) -> int:
    """Returns the exit status."""
    parser = argparse.ArgumentParser('python -m model_server.detect', description=__doc__)
    parser.add_argument('--json', action='store_true', help='one JSON object a line')
    parser.add_argument('files', nargs='+', metavar='FILE')
    chosen = parser.parse_args(arguments)
    try:
        detector = Detector(Settings.from_environment())
    except SettingsError as error:
        print(error, file=sys.stderr)
        return 2
    status = 0
    for path in chosen.files:
        found: dict[str, object] = {'file': path}
        try:
            with Path(path).open('rb') as file:
                verdict = detector.judge(file.read(LIMIT_BYTES + 1))
        except (OSError, Unreadable) as error:
            problem = str(error) if isinstance(error, Unreadable) else "can't be opened"
            found['problem'], sentence, status = problem, problem, 2
        else:
            found |= asdict(verdict)
            sentence, status = _sentence(verdict), max(status, 0 if verdict.made_here else 1)
        print(json.dumps(found) if chosen.json else f'{path}: {sentence}')
    return status


if __name__ == '__main__':
    sys.exit(main())
