import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { generationStatuses, generationTypes } from '../../../shared/contracts/generation.ts';
import { readFilter } from '../../../shared/http/generation-filter.ts';
import { anyId, inheritedNames, refusalOf } from '../../support/unit-samples.ts';

describe('the filter of a history', () => {
  test('narrows nothing when nothing was sent', () => {
    expect(readFilter({})).toEqual({});
  });

  test('is exactly what was sent, in any combination', () => {
    const anyQuery = fc.record(
      {
        identityId: anyId,
        status: fc.constantFrom(...generationStatuses),
        type: fc.constantFrom(...generationTypes),
      },
      { requiredKeys: [] },
    );
    fc.assert(fc.property(anyQuery, (query) => expect(readFilter(query)).toEqual(query)));
  });

  test.each(['', 'completed', 'COMPLETED ', 'COMPLETED,FAILED', 'DONE', '*', ...inheritedNames])(
    'status may not be %j',
    (status) => {
      const { code, message } = refusalOf(() => readFilter({ status }));
      expect(code).toBe('INVALID_PARAMETERS');
      expect(message).toBe('status must be one of QUEUED, PROCESSING, COMPLETED, FAILED, TIMEOUT.');
    },
  );

  test.each(['', 'Reference', 'text-to-image', 'text_to_image ', 'all', ...inheritedNames])(
    'type may not be %j',
    (type) => {
      const { code, message } = refusalOf(() => readFilter({ type }));
      expect(code).toBe('INVALID_PARAMETERS');
      expect(message).toBe('type must be one of text_to_image, reference, exact_product.');
    },
  );

  test.each(['', ' ', '-x', '_x', 'a b', 'a#b', 'a\0', 'é', 'x'.repeat(65), 'idn_1\n'])(
    'identityId may not be %j',
    (identityId) => {
      const { code, message } = refusalOf(() => readFilter({ identityId }));
      expect(code).toBe('INVALID_PARAMETERS');
      expect(message).toMatch(/^identityId must .+\.$/);
    },
  );

  test('names everything that is wrong in one sentence', () => {
    const { message } = refusalOf(() => readFilter({ identityId: '', status: 'x', type: 'y' }));
    expect(message).toMatch(/^identityId must .+; status must .+; type must .+\.$/);
  });
});
