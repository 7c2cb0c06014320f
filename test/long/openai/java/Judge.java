import com.openai.client.okhttp.OpenAIOkHttpClient;
import com.openai.errors.OpenAIServiceException;
import com.openai.models.images.ImageGenerateParams;
import java.util.Arrays;

/** Asks with OpenAI's SDK for Java, which stops at an answer that its types don't allow. It prints what it was answered. */
@SuppressWarnings("deprecation")
class Judge {
  public static void main(String[] args) {
    var settings = OpenAIOkHttpClient.builder().baseUrl(args[0]).apiKey(args[1]);
    var client = settings.maxRetries(0).responseValidation(true).build();
    var order = ImageGenerateParams.builder().model("aurora").prompt("a quiet test").size("768x512");
    for (var form : Arrays.asList("url", "b64_json", null)) {
      order.responseFormat(form == null ? null : ImageGenerateParams.ResponseFormat.of(form));
      var image = client.images().generate(order.build()).validate().data().get().get(0);
      System.out.println(form + ": " + image.url().isPresent() + " " + image.b64Json().isPresent());
    }
    try (var events = client.images().generateStreaming(order.build())) {
      events.stream().forEach(event -> System.out.println(event.validate().asGenerationCompleted().size()));
    }
    var model = client.models().retrieve("aurora").validate();
    System.out.println(client.models().list().items().stream().anyMatch(one -> one.validate().equals(model)));
    try {
      client.models().retrieve("nobody");
    } catch (OpenAIServiceException error) {
      System.out.println(error.statusCode() + " " + error.code().get() + " " + error.param().get());
    }
    client.close();
  }
}
