import { TestEnvironment } from 'jest-environment-node';
import { activeMutant } from './active-mutant.js';
import { slowTests } from './slow-tests.js';

/** Skips slow tests, and the rest of a file once a test has killed the mutant: Jest has no option for either. */
export default class extends TestEnvironment {
  handleTestEvent(event, state) {
    if (event.name === 'run_start') skip(state.rootDescribeBlock, ({ name }) => slowTests.has(name));
    const isFailure = ['test_fn_failure', 'hook_failure'].includes(event.name);
    if (isFailure && activeMutant() !== undefined) {
      skip(state.rootDescribeBlock, ({ errors }) => errors.length === 0);
    }
  }
}

function skip(block, isUnwanted) {
  for (const child of block.children) {
    if (child.type === 'describeBlock') skip(child, isUnwanted);
    else if (isUnwanted(child)) child.mode = 'skip';
  }
}
