import * as z from 'zod';
import { contactPattern } from '../shared/base/config.ts';

const httpsUrl = z.url({
  protocol: /^https$/,
  hostname: z.regexes.domain,
  error: 'must be an https URL',
});
const address = z.email('must be an e-mail address');

/** The options of a deployment that tell customers where to turn, and how they are written to. */
export const contacts = {
  /** E-mails to the owners of licenses, by Amazon SES; null for none. */
  mail: z
    .strictObject({
      /** The address that they come from. It or its domain is a verified identity of SES in the stack's region. */
      from: address,
    })
    .nullable()
    .default(null),
  /** Where customers change their subscriptions, as Stripe's customer portal; null for no link. */
  billingPortalUrl: httpsUrl.nullable().default(null),
  /** Where customers ask for help, and those whose servers references are fetched from: an e-mail address or a page; null for none. */
  supportContact: z
    .union([address, httpsUrl])
    .refine(
      (contact) => contactPattern.test(contact),
      'must be ASCII without spaces, parentheses and backslashes',
    )
    .nullable()
    .default(null),
};

/** The domain of an address, and the address: either may be the identity that SES has verified. */
export function mailIdentities(from: string): [domain: string, address: string] {
  return [from.slice(from.indexOf('@') + 1), from];
}
