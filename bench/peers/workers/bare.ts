import { bareHandler } from '../bare.ts'

export default { fetch: (request: Request): Promise<Response> => bareHandler(request) }
