from os import environ

from client import AuthenticatedClient
from client.api.generating import create_generation, get_generation
from client.models import Generation, GenerationRequest

api = AuthenticatedClient(base_url=environ["IMAGE_BASE_URL"], token=environ["IMAGE_API_KEY"])
asked = {"identity_id": environ["IMAGE_IDENTITY_ID"], "prompt": "a calm night", "width": 512, "height": 512}
made = create_generation.sync(client=api, body=GenerationRequest(**asked, seed=4000000000))
if isinstance(made, Generation):
    read = get_generation.sync(made.request_id, client=api)
    print(made.request_id, made.seed, read.id, read.seed, read.status)
else:
    print(made.code)
