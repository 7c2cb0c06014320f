from os import environ

from openapi_client import ApiClient, ApiException, Configuration, GeneratingApi, GenerationRequest

settings = Configuration(host=environ["IMAGE_BASE_URL"], access_token=environ["IMAGE_API_KEY"])
api = GeneratingApi(ApiClient(settings))
asked = {"identity_id": environ["IMAGE_IDENTITY_ID"], "prompt": "a calm night", "width": 512, "height": 512}
try:
    made = api.create_generation(GenerationRequest(**asked, seed=4000000000)).actual_instance
    read = api.get_generation(made.request_id)
    print(made.request_id, made.seed, read.id, read.seed, read.status)
except ApiException as refusal:
    print(refusal.data.code)
