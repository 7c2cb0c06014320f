"""A client of the image generation service: typed, with retries that never charge twice.

Example:
    >>> from image_generation import Client
    >>> client = Client(api_key=api_key, base_url=base_url)
    >>> image = client.generate(identity_id=identity_id, prompt='a quiet bay at dawn')
    >>> image.save(folder / 'bay.png').name
    'bay.png'
"""

from . import errors
from ._generate import Disconnected, Event
from ._version import __version__
from .async_client import AsyncClient, AsyncPendingGeneration
from .client import Client, PendingGeneration
from .errors import *  # noqa: F403
from .images import (
    AsyncGenerationResult,
    AsyncImage,
    AsyncStoredGeneration,
    GenerationResult,
    Image,
    StoredGeneration,
)
from .models import (
    Accepted,
    CreditsUsage,
    DryRun,
    Health,
    Identity,
    Progress,
    Queued,
    Started,
    StoredGenerationList,
    Upload,
)
from .parameters import GenerationParameters, ReferenceImage

__all__ = [
    'Accepted',
    'AsyncClient',
    'AsyncGenerationResult',
    'AsyncImage',
    'AsyncPendingGeneration',
    'AsyncStoredGeneration',
    'Client',
    'CreditsUsage',
    'Disconnected',
    'DryRun',
    'Event',
    'GenerationParameters',
    'GenerationResult',
    'Health',
    'Identity',
    'Image',
    'PendingGeneration',
    'Progress',
    'Queued',
    'ReferenceImage',
    'Started',
    'StoredGeneration',
    'StoredGenerationList',
    'Upload',
    '__version__',
]
__all__ += errors.__all__
