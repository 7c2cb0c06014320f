"""Which files of a diffusers folder the server needs, and whether they are all there and whole."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from model_server.pipelines.distilled import is_distilled
from model_server.safetensors import NotSafetensors, check_safetensors
from model_server.settings import SettingsError

from .onnx_file import ExternalData, NotOnnx, check_onnx

#: The pipelines that the server generates with, and the parts that each can't do without.
PIPELINES = {
    'StableDiffusionXLPipeline': (
        'unet', 'vae', 'text_encoder', 'text_encoder_2', 'tokenizer', 'tokenizer_2', 'scheduler',
    ),
    'ZImagePipeline': ('transformer', 'vae', 'text_encoder', 'tokenizer', 'scheduler'),
    'Flux2KleinPipeline': ('transformer', 'vae', 'text_encoder', 'tokenizer', 'scheduler'),
}  # fmt: skip
#: What each library calls its weights.
WEIGHTS = {'diffusers': 'diffusion_pytorch_model.safetensors', 'transformers': 'model.safetensors'}

#: The detectors of text that the server can use, by the `model_type` of their configuration.
TEXT_DETECTORS = ('pp_ocrv5_mobile_det', 'pp_ocrv5_server_det', 'pp_ocrv6_medium_det', 'pp_ocrv6_small_det')

_CONFIGURATIONS = {
    'config.json', 'scheduler_config.json', 'tokenizer_config.json', 'preprocessor_config.json',
    'processor_config.json',
}  # fmt: skip
_SMALL = {'.json', '.txt', '.model', '.jinja'}
_PICKLES = {'.bin', '.ckpt', '.pt', '.pth', '.pkl', '.pickle'}


class PackagingError(Exception):
    """The model can't be packaged; the message says what is wrong and what to do."""


def select_files(folder: Path) -> list[str]:
    """The files that the server needs, as paths below the folder, sorted. Raises PackagingError."""
    refuse_pickles(folder)
    index = read_json(folder / 'model_index.json')
    kind = str(index.get('_class_name'))
    if kind not in PIPELINES:
        raise PackagingError(
            f'model_index.json names {kind}, and the server has no pipeline for it. '
            f'It has one for {", ".join(PIPELINES)}.'
        )
    try:
        is_distilled(folder)
    except SettingsError as error:
        # As the server says when it starts.
        raise PackagingError(str(error)) from None
    parts = {name: about for name, about in index.items() if isinstance(about, list) and any(about)}
    missing = [name for name in PIPELINES[kind] if name not in parts]
    if missing:
        raise PackagingError(
            f'model_index.json has no {", ".join(missing)}, which {kind} needs. '
            'Save the whole pipeline with save_pretrained.'
        )
    files = ['model_index.json']
    for name, (library, *_) in parts.items():
        files += part_files(folder, name, str(library))
    if kind == 'StableDiffusionXLPipeline' and (folder / 'ip_adapter').is_dir():
        files.append(checked(folder, 'ip_adapter/ip_adapter.safetensors'))
        files += part_files(folder, 'ip_adapter/image_encoder', 'transformers')
    return sorted([*files, *helper_files(folder)])


def helper_files(folder: Path) -> list[str]:
    """What finds products and lettering in reference images, as far as it is there. Raises PackagingError."""
    files = []
    if (folder / 'segmentation').is_dir():
        files.append(checked_onnx(folder, 'segmentation/model.onnx'))
    if (folder / 'text_detector').is_dir():
        files += part_files(folder, 'text_detector', 'transformers')
        kind = read_json(folder / 'text_detector' / 'config.json').get('model_type')
        if kind not in TEXT_DETECTORS:
            raise PackagingError(
                f'text_detector/ holds {kind}, which the server can not use. '
                f'It can use {", ".join(TEXT_DETECTORS)}.'
            )
    return files


def refuse_pickles(folder: Path) -> None:
    """Loading one runs whatever code is in it. Raises PackagingError."""
    # OpenVINO's weights only share the ending.
    pickles = [
        path for path in visible_files(folder)
        if Path(path).suffix in _PICKLES and not Path(path).name.startswith('openvino_')
    ]  # fmt: skip
    if pickles:
        raise PackagingError(
            f'These files are pickles, which can run code when they are loaded: {", ".join(pickles)}. '
            'Delete those that have a .safetensors file beside them; convert the others to safetensors.'
        )


def part_files(folder: Path, name: str, library: str) -> list[str]:
    """The configuration, vocabulary and weights of one part of the pipeline. Raises PackagingError."""
    if library not in WEIGHTS:
        raise PackagingError(
            f'model_index.json takes {name} from {library}, which the server does not have. '
            f'It has {" and ".join(WEIGHTS)}.'
        )
    if not (folder / name).is_dir():
        raise PackagingError(f'The folder {name}/ is missing, which model_index.json names. Copy it whole.')
    names = {path.name for path in (folder / name).iterdir() if path.is_file()}
    if not names & _CONFIGURATIONS:
        raise PackagingError(f'{name}/ has no configuration, such as config.json. Copy it whole.')
    small = {each for each in names if Path(each).suffix in _SMALL and '.index.' not in each}
    # Only models have a config.json: what else a pipeline has, has no weights.
    weights = weight_files(folder, name, names, WEIGHTS[library]) if 'config.json' in names else []
    return [*(f'{name}/{each}' for each in small), *weights]


def weight_files(folder: Path, name: str, names: set[str], usual: str) -> list[str]:
    """The one file of a model's weights, or the index and all of its shards. Raises PackagingError."""
    index = f'{usual}.index.json'
    if usual in names and index in names:
        raise PackagingError(f'{name}/ has its weights twice, in {usual} and in shards. Delete one of them.')
    if usual in names:
        return [checked(folder, f'{name}/{usual}')]
    if index not in names:
        raise PackagingError(
            f'{name}/ has no {usual}. If it has its weights under another name or in another precision only, '
            'load the pipeline in diffusers, and save it with save_pretrained without a variant.'
        )
    places = read_json(folder / name / index).get('weight_map')
    if not isinstance(places, dict) or not places:
        raise PackagingError(f'{name}/{index} has no weight_map. Download it again.')
    shards = {str(shard) for shard in places.values()}
    missing = sorted(shards - names)
    if missing:
        raise PackagingError(f'{name}/ lacks {", ".join(missing)}, which its index names. Download it again.')
    return [f'{name}/{index}', *(checked(folder, f'{name}/{each}') for each in shards)]


def checked(folder: Path, path: str) -> str:
    """The path itself, once its file is found to be whole. Raises PackagingError."""
    try:
        check_safetensors(folder / path)
    except FileNotFoundError:
        raise PackagingError(f'{path} is missing.') from None
    except NotSafetensors:
        raise PackagingError(
            f'{path} is no safetensors file, or not all of one: a download that was cut off, or only '
            'a pointer of Git LFS. Download it again.'
        ) from None
    return path


def checked_onnx(folder: Path, path: str) -> str:
    """The path itself, once its file is found to be whole and all of the model. Raises PackagingError."""
    try:
        check_onnx(folder / path)
    except FileNotFoundError:
        raise PackagingError(f'{path} is missing. Rename the ONNX file to this.') from None
    except NotOnnx:
        raise PackagingError(
            f'{path} is no ONNX file, or not all of one: a download that was cut off, or only a pointer of '
            'Git LFS. Download it again.'
        ) from None
    except ExternalData:
        raise PackagingError(
            f'{path} keeps weights in other files. Save it as one file: '
            'onnx.save_model(onnx.load(file), file, save_as_external_data=False).'
        ) from None
    return path


def read_json(file: Path) -> dict[str, Any]:
    """Raises PackagingError."""
    try:
        value = json.loads(file.read_text('utf-8'))
    except FileNotFoundError:
        raise PackagingError(
            f'{file} is missing. Give the folder of a whole pipeline, as diffusers saves it.'
        ) from None
    except ValueError:
        value = None
    if not isinstance(value, dict):
        raise PackagingError(f'{file} is not a JSON object. Download it again.')
    return value


def visible_files(folder: Path) -> Iterator[str]:
    """All files but hidden ones and those in hidden folders, as paths below the folder."""
    for path in sorted(folder.rglob('*')):
        below = path.relative_to(folder)
        if path.is_file() and not any(part.startswith('.') for part in below.parts):
            yield below.as_posix()
