// @ts-expect-error: Next is installed where this is built.
import { after } from 'next/server'
import { nextHandlers, type Route } from '../../../../../../src/runtimes/next.ts'
import { handler } from '../../service.ts'

const routes: Route = nextHandlers(handler, { waitUntil: after })

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = routes
