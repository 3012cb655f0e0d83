import { servable } from './handlers.ts'

export default { fetch: (request: Request): Promise<Response> => servable(request) }
