/**
 * Who uses a development server on its own machine.
 *
 * @module
 */

import type { RequestState } from '../context.ts'
import type { Identity } from '../platform.ts'
import { isOwnMachine, LOCAL } from './gate.ts'

/** Finds the identity of a request whose service has no authentication; undefined for nobody. */
export type Identify = (request: Request, state: RequestState) => Identity | undefined

/** {@link LOCAL} for a request that surely comes from this machine, and from no page of another origin. */
export const identifyLocal: Identify = (request, state) => (isOwnMachine(request, state) ? LOCAL : undefined)
