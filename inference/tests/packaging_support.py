"""The packaging script, run as an operator runs it. S3 is a folder behind an `aws` of the tests' own."""

import json
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from .support import safetensors

INFERENCE = Path(__file__).parents[1]
TARGET = 's3://models/sdxl/one/'

# What the script asks of the AWS CLI, and no more. Objects and their metadata lie in folders of their own.
FAKE_AWS = """
import json, os, shutil, sys
from pathlib import Path
root = Path(os.environ['FAKE_S3'])
arguments = sys.argv[1:]
with (root / 'calls').open('a') as calls:
    calls.write(json.dumps(arguments) + chr(10))
option = lambda name: arguments[arguments.index(name) + 1]
if arguments[:2] == ['s3api', 'list-objects-v2']:
    bucket = root / 'objects' / option('--bucket')
    keys = [str(path.relative_to(bucket)) for path in bucket.rglob('*') if path.is_file()]
    found = [{'Key': key} for key in sorted(keys) if key.startswith(option('--prefix'))]
    print(json.dumps({'Contents': found}) if found else '')
elif arguments[:2] == ['s3api', 'head-object']:
    print((root / 'metadata' / option('--bucket') / option('--key')).read_text())
elif arguments[:2] == ['s3', 'cp']:
    source, place = arguments[2], arguments[3].removeprefix('s3://')
    if place.endswith(os.environ.get('FAIL_ON', 'nothing')):
        sys.exit('fatal error: the line is broken')
    name, _, value = option('--metadata').partition('=')
    for folder in ('objects', 'metadata'):
        (root / folder / place).parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, root / 'objects' / place)
    (root / 'metadata' / place).write_text(json.dumps({'Metadata': {name: value}}))
else:
    sys.exit('unknown: ' + ' '.join(arguments))
"""


@dataclass
class PackagingWorkspace:
    """An operator's workspace: a model's folder, a terminal, and S3 far away."""

    model: Path
    root: Path

    @property
    def target(self) -> Path:
        """The folder that stands for the target in S3."""
        return self.root / 'objects' / TARGET.removeprefix('s3://')

    def package(
        self, *arguments: str, fail_on: str = 'nothing', path: str | None = None
    ) -> subprocess.CompletedProcess[str]:
        """Runs the script on the model."""
        command = [sys.executable, str(INFERENCE / 'tools' / 'package_model.py'), str(self.model), *arguments]
        search = str(self.root / 'bin') if path is None else path
        env = {'PATH': search, 'FAKE_S3': str(self.root), 'FAIL_ON': fail_on}
        return subprocess.run(command, capture_output=True, text=True, env=env, cwd=self.root, check=False)

    def refusal(self, target: str = TARGET, *arguments: str) -> str:
        """What the script says of a model that it refuses; then it has written and uploaded nothing."""
        done = self.package(target, *arguments)
        assert done.returncode == 1
        assert done.stdout == ''
        assert not (self.model / 'model.json').exists()
        assert self.uploads() == []
        return done.stderr

    def uploads(self) -> list[str]:
        """The targets of all uploads so far, in their order."""
        calls = self.root / 'calls'
        lines = calls.read_text().splitlines() if calls.exists() else []
        parsed = [json.loads(line) for line in lines]
        return [call[3].removeprefix(TARGET) for call in parsed if call[:2] == ['s3', 'cp']]

    def stored(self) -> dict[str, bytes]:
        """All that lies at the target."""
        files = [path for path in self.target.rglob('*') if path.is_file()]
        return {path.relative_to(self.target).as_posix(): path.read_bytes() for path in files}

    def write(self, path: str, content: bytes | str | None) -> None:
        """Puts a file into the model's folder; with None it takes the file or folder away."""
        file = self.model / path
        if content is None:
            shutil.rmtree(file) if file.is_dir() else file.unlink()
            return
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content if isinstance(content, bytes) else content.encode())


SDXL = {
    '_class_name': 'StableDiffusionXLPipeline',
    '_diffusers_version': '0.42.1',
    'force_zeros_for_empty_prompt': True,
    'feature_extractor': [None, None],
    'scheduler': ['diffusers', 'EulerDiscreteScheduler'],
    'text_encoder': ['transformers', 'CLIPTextModel'],
    'text_encoder_2': ['transformers', 'CLIPTextModelWithProjection'],
    'tokenizer': ['transformers', 'CLIPTokenizer'],
    'tokenizer_2': ['transformers', 'CLIPTokenizer'],
    'unet': ['diffusers', 'UNet2DConditionModel'],
    'vae': ['diffusers', 'AutoencoderKL'],
}
FILES = {
    'model_index.json': json.dumps(SDXL).encode(),
    'scheduler/scheduler_config.json': b'{}',
    'text_encoder/config.json': b'{}',
    'text_encoder/model.safetensors': safetensors(b'clip'),
    'text_encoder_2/config.json': b'{}',
    'text_encoder_2/model.safetensors': safetensors(b'open clip'),
    'tokenizer/merges.txt': b'a b',
    'tokenizer/tokenizer_config.json': b'{}',
    'tokenizer/vocab.json': b'{}',
    'tokenizer_2/chat_template.jinja': b'{{ text }}',
    'tokenizer_2/tokenizer_config.json': b'{}',
    'unet/config.json': b'{}',
    'unet/diffusion_pytorch_model-00001-of-00002.safetensors': safetensors(b'first'),
    'unet/diffusion_pytorch_model-00002-of-00002.safetensors': safetensors(b'second'),
    'unet/diffusion_pytorch_model.safetensors.index.json': json.dumps(
        {'weight_map': {name: f'diffusion_pytorch_model-0000{name}-of-00002.safetensors' for name in '12'}}
    ).encode(),
    'vae/config.json': b'{}',
    'vae/diffusion_pytorch_model.safetensors': safetensors(b'vae'),
}
FIRST_SHARD = 'unet/diffusion_pytorch_model-00001-of-00002.safetensors'


def set_up(tmp_path: Path) -> PackagingWorkspace:
    """With a small model that lacks nothing."""
    aws = tmp_path / 'bin' / 'aws'
    aws.parent.mkdir()
    aws.write_text(f'#!{sys.executable} -IS\n{FAKE_AWS}')
    aws.chmod(0o755)
    workspace = PackagingWorkspace(model=tmp_path / 'my-model', root=tmp_path)
    for path, content in FILES.items():
        workspace.write(path, content)
    return workspace
