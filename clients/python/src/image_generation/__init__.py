"""A client of the image generation service: typed, with retries that never charge twice.

Example:
    >>> from image_generation import Client
    >>> with Client(api_key=api_key, base_url=base_url) as client:
    ...     image = client.generate(identity_id=identity_id, prompt='a quiet bay at dawn')
    ...     image.save(folder / 'bay.png').name
    'bay.png'
"""

from ._batch_folder import BatchResult as BatchResult
from ._generate import Disconnected as Disconnected
from ._generate import Event as Event
from ._version import __version__ as __version__
from .async_client import AsyncClient as AsyncClient
from .async_client import AsyncPendingGeneration as AsyncPendingGeneration
from .client import Client as Client
from .client import GenerationQuery as GenerationQuery
from .client import PendingGeneration as PendingGeneration
from .errors import *
from .images import AsyncGenerationResult as AsyncGenerationResult
from .images import AsyncImage as AsyncImage
from .images import AsyncStoredGeneration as AsyncStoredGeneration
from .images import AsyncStoredGenerationList as AsyncStoredGenerationList
from .images import GenerationResult as GenerationResult
from .images import Image as Image
from .images import StoredGeneration as StoredGeneration
from .images import StoredGenerationList as StoredGenerationList
from .models import Accepted as Accepted
from .models import CreditsUsage as CreditsUsage
from .models import DryRun as DryRun
from .models import Health as Health
from .models import Identity as Identity
from .models import IdentityDetail as IdentityDetail
from .models import IdentityVersion as IdentityVersion
from .models import KeyAllowance as KeyAllowance
from .models import Progress as Progress
from .models import Queued as Queued
from .models import Started as Started
from .models import Upload as Upload
from .parameters import GenerationParameters as GenerationParameters
from .parameters import ReferenceImage as ReferenceImage
