package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"program/api"
)

func main() {
	ctx := context.Background()
	client, _ := api.NewClientWithResponses(os.Getenv("IMAGE_BASE_URL"), api.WithRequestEditorFn(signIn))
	seed, size := int64(4000000000), int32(512)
	request := api.GenerationRequest{IdentityId: os.Getenv("IMAGE_IDENTITY_ID"), Prompt: "a calm night"}
	request.Seed, request.Width, request.Height = &seed, &size, &size
	answer := must(client.CreateGenerationWithResponse(ctx, nil, request))
	if answer.JSON401 != nil {
		fmt.Println(answer.JSON401.Code)
		return
	}
	made := must(answer.JSON200.AsGeneration())
	read := must(client.GetGenerationWithResponse(ctx, made.RequestId)).JSON200
	fmt.Println(made.RequestId, made.Seed, read.Id, read.Seed, read.Status)
}

func signIn(_ context.Context, request *http.Request) error {
	request.Header.Set("Authorization", "Bearer "+os.Getenv("IMAGE_API_KEY"))
	return nil
}

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}
