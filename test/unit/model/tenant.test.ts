import { expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { tenantOf } from '../../../shared/model/tenant.ts';

test('a tenant is 22 characters that are always the same for a license and say nothing of it', () => {
  const known = tenantOf('lic_5uB0kP3nT8xW2cYq7LzR');
  expect(known).toBe(tenantOf('lic_5uB0kP3nT8xW2cYq7LzR'));
  fc.assert(
    fc.property(fc.string(), (licenseId) => {
      expect(tenantOf(licenseId)).toMatch(/^[\w-]{22}$/);
      expect(tenantOf(licenseId)).not.toBe(known);
    }),
  );
});
