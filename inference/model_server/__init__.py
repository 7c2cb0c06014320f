"""Serves one text-to-image model on one GPU behind SageMaker's `/ping` and `/invocations`."""
