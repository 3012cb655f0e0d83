import { type Route, route } from '../../../../../../src/runtimes/next.ts'
import { handler } from '../../../../../contracts/fixture.ts'

export const runtime = 'edge'

const routes: Route = route(handler)

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = routes
