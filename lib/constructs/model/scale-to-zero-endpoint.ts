import { CfnEndpoint, CfnEndpointConfig, CfnInferenceComponent } from 'aws-cdk-lib/aws-sagemaker';
import { Construct } from 'constructs';
import { gpusOfTypes } from '../../gpus.ts';
import { instanceTypesOf } from '../../inference-options.ts';
import {
  addContainer,
  metricsConfig,
  startStepSeconds,
  variantName,
  variantOf,
  type ModelEndpointProps,
} from './model-container.ts';
import { ScaleToZeroScaling } from './scale-to-zero-scaling.ts';

/**
 * What a copy reserves of an instance's memory; it may use more. SageMaker keeps much of the memory for itself, and starts
 * no copy that reserves more than the rest (docs/decisions/0034).
 */
const reservedMemoryMb = 1024;

/**
 * A SageMaker endpoint that has no instances while nobody asks it. It hosts an inference component: copies of the model,
 * each with all GPUs of an instance of its own. The copies are scaled, and SageMaker starts and ends instances for them.
 */
export class ScaleToZeroEndpoint extends Construct {
  readonly endpoint: CfnEndpoint;
  /** The component's name. It is the endpoint's. */
  readonly componentName: string;
  private readonly props: ModelEndpointProps;

  constructor(scope: Construct, id: string, props: ModelEndpointProps) {
    super(scope, id);
    this.props = props;
    this.componentName = props.endpointName;
    const { options } = props;
    const { model, role, policy, logGroup } = addContainer(this, {
      ...props,
      logGroupName: `/aws/sagemaker/InferenceComponents/${this.componentName}`,
      metricNamespaces: ['/aws/sagemaker/Endpoints', '/aws/sagemaker/InferenceComponents'],
      hasNetwork: false,
    });
    const config = this.addConfiguration(role.roleArn);
    // SageMaker uses the role when it starts the first instance.
    config.node.addDependency(policy);
    this.endpoint = new CfnEndpoint(this, 'Endpoint', {
      endpointName: props.endpointName,
      endpointConfigName: config.attrEndpointConfigName,
    });
    const component = this.addComponent(model.attrModelName);
    component.node.addDependency(logGroup);
    new ScaleToZeroScaling(this, 'Scaling', { component, componentName: this.componentName, options });
  }

  private addConfiguration(executionRoleArn: string): CfnEndpointConfig {
    const { options, network } = this.props;
    return new CfnEndpointConfig(this, 'Configuration', {
      metricsConfig,
      executionRoleArn,
      ...(network !== null && { vpcConfig: network.vpcConfig }),
      productionVariants: [
        {
          ...variantOf(options),
          // For the component's first copy, which shows whether the container works.
          initialInstanceCount: 1,
          managedInstanceScaling: {
            status: 'ENABLED',
            minInstanceCount: 0,
            // Copies are limited by the scaling. A deployment starts new copies beside the old ones.
            maxInstanceCount: 2 * options.maxInstances,
          },
        },
      ],
    });
  }

  private addComponent(modelName: string): CfnInferenceComponent {
    const types = instanceTypesOf(this.props.options);
    const specificationFor = (instanceType: string) => ({
      modelName,
      computeResourceRequirements: {
        numberOfAcceleratorDevicesRequired: gpusOfTypes[instanceType] ?? 1,
        minMemoryRequiredInMb: reservedMemoryMb,
      },
      startupParameters: {
        modelDataDownloadTimeoutInSeconds: startStepSeconds,
        containerStartupHealthCheckTimeoutInSeconds: startStepSeconds,
      },
    });
    return new CfnInferenceComponent(this, 'Component', {
      inferenceComponentName: this.componentName,
      endpointName: this.endpoint.attrEndpointName,
      variantName,
      ...(types.length === 1
        ? { specification: specificationFor(types[0]!) }
        : {
            specifications: types.map((instanceType) => ({
              instanceType,
              ...specificationFor(instanceType),
            })),
          }),
      // A deployment starts one copy, also where the model is scaled to zero: if the container does not work, the deployment fails.
      runtimeConfig: { copyCount: 1 },
    });
  }
}
