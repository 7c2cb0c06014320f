/**
 * What an hour of a SageMaker instance that hosts a model costs, US dollars, us-east-1, on demand. AWS's page fills
 * these in by script, so none could be read there; public programs that carry them agree.
 */
export const instancePrices: Readonly<Record<string, number>> = {
  'ml.g5.xlarge': 1.408,
  'ml.g5.2xlarge': 1.515,
  'ml.g6.xlarge': 1.1267,
  'ml.g6.2xlarge': 1.222,
  'ml.g6.4xlarge': 1.654,
  'ml.g6.12xlarge': 5.752,
};

export const instancePricesSource = 'https://aws.amazon.com/sagemaker/ai/pricing/';
