import { bare } from './handlers.ts'

export default { fetch: (request: Request): Promise<Response> => bare(request) }
