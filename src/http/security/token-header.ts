/**
 * Paths whose clients send the caller's token in a header of their protocol.
 *
 * @module
 */

import type { Middleware } from '../context.ts'
import { isBelow, pathnameOf } from '../router.ts'
import { BEARER, bearerIn } from './authentication.ts'
import { credentialOf } from './credential.ts'

/** A path, and the header that has the caller's token at it and below it. */
export interface TokenHeader {
  readonly path: string
  readonly tokenHeader: string
}

/**
 * Makes what moves the token of a request to where authentication reads it: to the header of each ready-made middleware that has
 * none yet, else to `authorization`. The header itself is taken away, so that nothing takes it for the key of a model provider. The
 * request stays the same object, because runtimes know it by that, and its signal lives as long as it does.
 */
export function tokenMover(
  headers: readonly TokenHeader[],
  middleware: readonly Middleware[],
): (request: Request) => void {
  const ready = middleware.map(credentialOf).filter(each => each !== undefined)
  const credentials = ready.length === 0 ? [BEARER] : ready
  return request => {
    const pathname = pathnameOf(request.url)
    const found = headers.find(({ path }) => isBelow(path, pathname))
    if (found === undefined) return
    const given = request.headers.get(found.tokenHeader)
    const token = bearerIn(request.headers) ?? given
    const missing = token ? credentials.filter(({ read }) => read(request.headers) === undefined) : []
    if (given === null && missing.length === 0) return
    const moved = new Headers(request.headers)
    moved.delete(found.tokenHeader)
    for (const { write } of missing) write(moved, token ?? '')
    Object.defineProperty(request, 'headers', { value: moved, configurable: true })
  }
}
