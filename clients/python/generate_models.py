"""Makes what is generated of `docs/openapi.json`: the answers' models, the request's parameters, and the
exceptions.

`python generate_models.py` writes the files, `python generate_models.py --check` fails where they differ from
what it would write.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from textwrap import wrap
from typing import Any

from datamodel_code_generator import InputFileType, generate
from datamodel_code_generator.enums import DataModelType
from datamodel_code_generator.format import PythonVersion
from datamodel_code_generator.parser import LiteralType

folder = Path(__file__).parent
package = folder / 'src' / 'image_generation'
Schema = dict[str, Any]

# The members of each answer in the first version that had it.
oldest: dict[str, str] = json.loads((folder / '../oldest-answers.json').read_text())
before_it_was_there = {'outputFormat': 'png'}

# Answers of which the client reads nothing, or only what is within.
unread_answers = {'DeletedGeneration', 'GenerationEvents'}

# Objects within objects get these names; others are named after where they stand.
names = {
    ('Generation', 'identity'): 'IdentityName',
    ('Generation', 'usage'): 'CreditsUsage',
    ('StoredGeneration', 'identity'): 'StoredIdentity',
    ('IdentityList', 'identities'): 'Identity',
    ('IdentityList', 'samples'): 'Sample',
    ('IdentityList', 'defaultSize'): 'Size',
    ('IdentityDetail', 'versions'): 'IdentityVersion',
    ('KeyAllowance', 'license'): 'KeyLicense',
    ('KeyAllowance', 'credits'): 'KeyCredits',
    ('KeyAllowance', 'budget'): 'KeyBudget',
    ('KeyAllowance', 'requests'): 'KeyRequests',
    ('KeyAllowance', 'identities'): 'KeyIdentity',
    ('GenerationEvents', 'accepted'): 'Accepted',
    ('GenerationEvents', 'queued'): 'Queued',
    ('GenerationEvents', 'started'): 'Started',
    ('GenerationEvents', 'progress'): 'Progress',
}

# Rules that the service checks. An answer is read whatever they say: a newer service may be more generous.
rules = {
    'example',
    'examples',
    'pattern',
    'minimum',
    'maximum',
    'minLength',
    'maxLength',
    'minItems',
    'maxItems',
} | {
    'multipleOf',
    'additionalProperties',
    'propertyNames',
    'default',
}


def answers_of(document: Schema) -> Schema:
    """The schemas of answers, with every object named and without rules."""
    found: Schema = {}
    unread = only_for_sessions(document)
    for name, schema in document['components']['schemas'].items():
        # An error is an exception, and a request, with its lists of values, is the parameters of a function.
        if name not in ('Error', *unread) and not name.endswith('Request') and 'enum' not in schema:
            found[name] = named(schema, name, found)
    return {name: optional_later(name, found[name]) for name in sorted(found.keys() - unread_answers)}


def optional_later(name: str, schema: Schema) -> Schema:
    """A schema whose later members are optional, since a client may be newer than the service: null, or an
    empty list.
    """
    required = schema.get('required', [])
    later = [one for one in required if name in oldest and one not in oldest[name].split()]
    for one in later:
        member = schema['properties'][one]
        if one in before_it_was_there or member.get('type') == 'array':
            member['default'] = before_it_was_there.get(one, [])
    return {**schema, 'required': [one for one in required if one not in later]}


def only_for_sessions(document: Schema) -> set[str]:
    """What only the sessions of accounts are answered, which this client does not serve."""
    by_session: set[str] = set()
    by_key: set[str] = set()
    for operation in (one for path in document['paths'].values() for one in path.values()):
        answers = by_session if operation['security'] == [{'session': []}] else by_key
        refs = (response['$ref'] for response in operation['responses'].values())
        answers |= {ref.rsplit('/', 1)[1].removesuffix('Answer') for ref in refs}
    return by_session - by_key


def named(schema: Any, where: str, found: Schema) -> Any:
    """A copy of a schema in which each object within stands in `found` and is referred to."""
    if isinstance(schema, list):
        return [named(one, where, found) for one in schema]
    if not isinstance(schema, dict):
        return schema
    copy = {name: named(value, where, found) for name, value in schema.items() if is_kept(name, value)}
    if 'x-extensible-enum' in copy:
        copy['enum'] = copy.pop('x-extensible-enum') + [None] * ('null' in copy['type'])
        # The type says them.
        copy['description'] = re.sub(r' ?Values today: .*', '', copy.get('description', '')) or None
    for name, member in schema.get('properties', {}).items():
        copy['properties'][name] = member_of(member, (where, name), found)
    return copy


def is_kept(name: str, value: Any) -> bool:
    """Ids and links are opaque text, and which members go together is for the service to say."""
    if name == 'additionalProperties' and isinstance(value, dict):
        return True
    return name not in rules and not (name == 'format' and value in ('uri', 'uuid'))


def member_of(member: Schema, place: tuple[str, str], found: Schema) -> Schema:
    """A member, of which an object becomes a reference."""
    if 'items' in member and 'properties' in member['items']:
        return {**named(member, place[0], found), 'items': member_of(member['items'], place, found)}
    if 'properties' not in member:
        return named(member, place[0], found)  # type: ignore[no-any-return]
    default = place[0] + place[1][0].upper() + place[1][1:]
    name = names.get(place, default)
    schema = named(member, name, found)
    words = schema.pop('description', None)
    same = next(
        (other for other, known in found.items() if known['properties'] == schema['properties']), None
    )
    if same is None:
        found[name] = schema
    return {
        'allOf': [{'$ref': f'#/components/schemas/{same or name}'}],
        **({'description': words} if words else {}),
    }


def models(document: Schema) -> str:
    """Pydantic models of all answers."""
    reduced = {**document, 'paths': {}, 'components': {'schemas': answers_of(document)}}
    with tempfile.TemporaryDirectory() as temporary:
        output = Path(temporary) / 'models.py'
        generate(
            json.dumps(reduced),
            input_file_type=InputFileType.OpenAPI,
            output=output,
            output_model_type=DataModelType.PydanticV2BaseModel,
            target_python_version=PythonVersion.PY_310,
            base_class='image_generation._answer.Answer',
            enum_field_as_literal=LiteralType.All,
            snake_case_field=True,
            use_standard_collections=True,
            use_union_operator=True,
            strict_nullable=True,
            use_annotated=True,
            use_schema_description=True,
            use_inline_field_description=True,
            disable_timestamp=True,
            formatters=[],
            custom_file_header=f'"""What the service answers. {notice}"""',
        )
        text = output.read_text()
    # Each description stands below its member already.
    text = re.sub(r"""(, )?description=('(\\.|[^'\\])*'|"(\\.|[^"\\])*")""", '', text)
    text = re.sub(r'Annotated\[(.*), Field\((, validate_default=True)?\)\]', r'\1', text)
    # A list of values may grow: type checkers know those of today, and an answer with another one is read
    # too.
    text = re.sub(r'Literal\[[^\]]*\]', r'SkipValidation[\g<0>]', text)
    # The words of a member stand right below it, and the next one below them.
    text = re.sub(r'"""\n+(?=    \w)', '"""\n', text)
    return text.replace('import AwareDatetime', 'import AwareDatetime, SkipValidation', 1)


notice = 'Generated of docs/openapi.json by generate_models.py.'
python_types = {'string': 'str', 'integer': 'int', 'number': 'float', 'boolean': 'bool'}


def parameters(document: Schema) -> str:
    """The keyword arguments of a request, which the service checks."""
    schema = document['components']['schemas']['GenerationRequest']
    members = schema['properties'].items()
    reference = schema['properties']['referenceImages']['items']
    lines = [
        f'"""What a request may ask for. {notice}"""',
        'from collections.abc import Sequence',
        'from typing import Literal',
        'from typing_extensions import NotRequired, TypedDict',
        'from ._storage import File',
        'class ReferenceImage(TypedDict, total=False):',
        '    """A picture of a product: the ID of an upload, a public link or a `data:` URI."""',
        *(f'    {snake(name)}: str | None' for name in sorted(reference['properties'])),
        'class GenerationParameters(TypedDict):',
        '    """What is left out, or None, has the default of the service."""',
    ]
    for name, member in members:
        kind = parameter_type(member, document['components']['schemas'])
        lines.append(
            f'    {snake(name)}: {kind if name in schema["required"] else f"NotRequired[{kind} | None]"}'
        )
        words = wrap(f'{member["description"]}"""', 100)
        lines += ['    """' + words[0], *(f'    {line}' for line in words[1:])]
    return '\n'.join(lines)


def parameter_type(member: Schema, lists: Schema) -> str:
    """The type of a keyword argument; a list of values is a schema of its own."""
    if 'anyOf' in member:
        return f'Literal[{", ".join(map(repr, lists[member["anyOf"][0]["$ref"].rsplit("/", 1)[1]]["enum"]))}]'
    kind = member['type'] if isinstance(member['type'], str) else member['type'][0]
    # A file is uploaded by the client itself.
    return 'Sequence[ReferenceImage | File]' if kind == 'array' else python_types[kind]


def snake(name: str) -> str:
    """Python's name of a member."""
    return re.sub(r'(?=[A-Z])', '_', name).lower()


def exceptions(document: Schema) -> str:
    """The exceptions: one for each code that the service answers with, and those that no code stands for."""
    statuses: dict[str, set[str]] = {}
    for path in document['paths'].values():
        for operation in path.values():
            for status, reference in operation['responses'].items():
                response = document['components']['responses'][reference['$ref'].rsplit('/', 1)[1]]
                examples = response.get('content', {}).get('application/json', {}).get('examples', {})
                for code in examples.keys() & document['components']['examples'].keys():
                    statuses.setdefault(code, set()).add(status)
    others = 'ApiError ConfigurationError ConnectionError DownloadError ImageGenerationError StorageError'
    others += ' TimeoutError UnexpectedAnswer UploadError'
    lines = [f'"""Everything that the client raises. {notice}"""']
    lines += [f'from ._client_errors import {name} as {name}' for name in others.split()]
    for code in sorted(statuses):
        lines += [
            f'class {class_of(code)}(ApiError):',
            f'    """{", ".join(sorted(statuses[code]))} {code}: see `docs/errors.md#{code.lower()}`."""',
        ]
    return '\n'.join(lines)


def class_of(code: str) -> str:
    """The name of the exception of a code."""
    return ''.join(word.capitalize() for word in code.split('_'))


def formatted(text: str, path: Path) -> str:
    """As the project formats its code, so that what is generated is judged like the rest."""
    name = str(path)
    for command in (['check', '--fix', '--quiet', '--select', 'I,F401'], ['format', '--quiet']):
        args = [sys.executable, '-m', 'ruff', *command, '--stdin-filename', name, '-']
        text = subprocess.run(args, input=text, capture_output=True, text=True, check=True).stdout
    return text


def generated() -> dict[Path, str]:
    """Every generated file and what it should hold."""
    document = json.loads((folder / '../../docs/openapi.json').read_text())
    makers = {'models.py': models, 'parameters.py': parameters, 'errors.py': exceptions}
    return {package / name: formatted(make(document), package / name) for name, make in makers.items()}


def differing() -> list[str]:
    """The generated files that are not what the document says."""
    return [path.name for path, text in generated().items() if not path.exists() or path.read_text() != text]


if __name__ == '__main__':
    if '--check' in sys.argv:
        drifted = differing()
        sys.exit(
            f'Run generate_models.py: {", ".join(drifted)} differ from docs/openapi.json.' if drifted else 0
        )
    for path, text in generated().items():
        path.write_text(text)
