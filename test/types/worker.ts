import { createHandler } from '../../src/index.ts'
import { worker } from '../../src/runtimes/cloudflare.ts'

export default { fetch: worker(createHandler()) } satisfies ExportedHandler
