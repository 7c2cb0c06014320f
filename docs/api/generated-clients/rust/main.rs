use openapi::apis::{configuration::Configuration, generating_api::*, Error::ResponseError};
use openapi::models::{GenerationRequest, InlineObject};
use std::env::var;

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let mut api = Configuration { base_path: var("IMAGE_BASE_URL").unwrap(), ..Default::default() };
    api.bearer_access_token = var("IMAGE_API_KEY").ok();
    let mut request = GenerationRequest::new(var("IMAGE_IDENTITY_ID").unwrap(), "a calm night".into());
    (request.width, request.height, request.seed) = (Some(Some(512)), Some(Some(512)), Some(Some(4000000000)));
    match create_generation(&api, request, None, None, None).await {
        Ok(InlineObject::Generation(made)) => {
            let read = get_generation(&api, &made.request_id).await.unwrap();
            println!("{} {} {} {} {}", made.request_id, made.seed, read.id, read.seed, read.status);
        }
        Err(ResponseError(refusal)) => match refusal.entity {
            // Each refusal is read as the first of its kinds, whatever refusal.status is.
            Some(CreateGenerationError::Status400(error)) => println!("{}", error.code),
            other => panic!("{other:?}"),
        },
        other => panic!("{other:?}"),
    }
}
