/**
 * Stands in the bundle for the validator that the SDK brings for what users type into a host's form. No tool here asks a user for
 * anything, and the real one is a third of the SDK.
 */
export class DefaultJsonSchemaValidator {
  getValidator(): never {
    throw new Error('No tool asks for input, so there is nothing to validate.');
  }
}
