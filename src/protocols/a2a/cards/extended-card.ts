import { isServableError, ServableError } from '../../../base/errors.ts'
import { identifyBy } from '../../../http/security/authentication.ts'
import { checkResponse, isResponse } from '../../../web/response.ts'
import type { OperationAnswer, OperationCall } from '../operations.ts'
import type { A2ASettings } from '../options.ts'
import type { Tenants } from '../tenants.ts'
import { v03Rest } from '../wire/v03-rest.ts'
import { type Cards, signed } from './cards.ts'

/**
 * Makes the operation that answers authenticated users with the extended card. It throws `unauthorized` for everyone else.
 */
export function createExtendedCard(
  { extendedCard, sign }: A2ASettings,
  cards: Cards,
  tenants: Tenants,
): ((call: OperationCall) => Promise<OperationAnswer>) | undefined {
  if (extendedCard === undefined) return undefined
  const { authenticate, challenge = 'Bearer' } = extendedCard
  return async ({ request, state, agent, namedTenant, wire }) => {
    const identity = await identifyBy(authenticate, request, state).catch(error => {
      // A 401 answer must have a challenge (RFC 9110, section 15.5.2).
      state.responseHeaders.set('www-authenticate', challenge)
      throw error
    })
    if (isResponse(identity)) return { response: checkResponse(identity, '`a2a.extendedCard.authenticate`') }
    const tenant = await tenants.admit(namedTenant, { identity, state, request })
    // The card may differ for each user, so shared caches must not store it.
    state.responseHeaders.set('cache-control', 'private, no-store')
    const form = wire === v03Rest ? '0.3-proto' : wire.version === '1.0' ? '1.0' : '0.3'
    try {
      return { value: await signed(await cards({ request, agent, tenant, form, identity }), form, sign) }
    } catch (cause) {
      // The options' `card` and `sign` functions may throw any error. Only intended errors show their text.
      if (isServableError(cause)) throw cause
      throw new ServableError('internal_error', 'The extended card could not be made', { cause })
    }
  }
}
