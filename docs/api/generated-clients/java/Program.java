import org.openapitools.client.*;
import org.openapitools.client.api.GeneratingApi;
import org.openapitools.client.model.*;

class Program {
  public static void main(String[] args) throws java.io.IOException {
    GeneratingApi api = new GeneratingApi(new ApiClient().setBasePath(System.getenv("IMAGE_BASE_URL")));
    api.getApiClient().setBearerToken(System.getenv("IMAGE_API_KEY"));
    GenerationRequest request = new GenerationRequest().identityId(System.getenv("IMAGE_IDENTITY_ID")).prompt("a calm night");
    try {
      Generation made = api.createGeneration(request.width(512).height(512).seed(4000000000L), null, null, null).getGeneration();
      StoredGeneration read = api.getGeneration(made.getRequestId());
      System.out.printf("%s %s %s %s %s%n", made.getRequestId(), made.getSeed(), read.getId(), read.getSeed(), read.getStatus());
    } catch (ApiException refusal) {
      System.out.println(org.openapitools.client.model.Error.fromJson(refusal.getResponseBody()).getCode());
    }
  }
}
