package main

import (
	"context"
	"fmt"
	"os"
	"program/api"
)

type credentials struct{ api.SecuritySource }

func (credentials) ApiKey(context.Context, api.OperationName) (api.ApiKey, error) {
	return api.ApiKey{Token: os.Getenv("IMAGE_API_KEY")}, nil
}

func main() {
	ctx := context.Background()
	client, _ := api.NewClient(os.Getenv("IMAGE_BASE_URL"), credentials{})
	request := api.GenerationRequest{IdentityId: os.Getenv("IMAGE_IDENTITY_ID"), Prompt: "a calm night"}
	request.Seed = api.NewOptNilInt64(4000000000)
	request.Width, request.Height = api.NewOptNilInt32(512), api.NewOptNilInt32(512)
	answer := must(client.CreateGeneration(ctx, &request, api.CreateGenerationParams{}))
	if refusal, ok := answer.(interface{ GetResponse() api.Error }); ok {
		fmt.Println(refusal.GetResponse().Code)
		return
	}
	made := answer.(*api.GenerationAnswerApplicationJSONHeaders).Response.Generation
	stored := must(client.GetGeneration(ctx, api.GetGenerationParams{RequestId: made.RequestId}))
	read := stored.(*api.StoredGenerationAnswerHeaders).Response
	fmt.Println(made.RequestId, made.Seed, read.ID, read.Seed, read.Status)
}

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}
