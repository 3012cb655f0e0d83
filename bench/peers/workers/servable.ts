import { worker } from '../../../src/runtimes/cloudflare.ts'
import { handler } from '../service.ts'

export default { fetch: worker(handler) }
