package main

import (
	"context"
	"fmt"
	api "github.com/GIT_USER_ID/GIT_REPO_ID"
	"os"
)

func main() {
	settings := api.NewConfiguration()
	settings.Servers = api.ServerConfigurations{{URL: os.Getenv("IMAGE_BASE_URL")}}
	client := api.NewAPIClient(settings).GeneratingAPI
	ctx := context.WithValue(context.Background(), api.ContextAccessToken, os.Getenv("IMAGE_API_KEY"))
	request := api.NewGenerationRequest(os.Getenv("IMAGE_IDENTITY_ID"), "a calm night")
	request.SetSeed(4000000000)
	request.SetWidth(512)
	request.SetHeight(512)
	made, _, err := client.CreateGeneration(ctx).GenerationRequest(*request).Execute()
	if refusal, ok := err.(*api.GenericOpenAPIError); ok {
		fmt.Println(refusal.Model().(api.Error).Code)
		return
	}
	read, _, err := client.GetGeneration(ctx, made.Generation.RequestId).Execute()
	if err != nil {
		panic(err)
	}
	fmt.Println(made.Generation.RequestId, made.Generation.Seed, read.Id, read.Seed, read.Status)
}
