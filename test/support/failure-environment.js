import { TestEnvironment } from 'jest-environment-node';

/** Tells the hooks after a test whether it failed: `hasFailed` is a global. */
export default class FailureEnvironment extends TestEnvironment {
  handleTestEvent({ name }) {
    if (name === 'test_start') this.global.hasFailed = false;
    if (name === 'test_fn_failure') this.global.hasFailed = true;
  }
}
