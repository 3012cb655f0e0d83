import { type WorkerFetch, worker } from '../../../src/runtimes/cloudflare.ts'
import { handler } from './logs-server.ts'

const entry: { fetch: WorkerFetch } = { fetch: worker(handler) }
// biome-ignore lint/style/noDefaultExport: a Worker is the default export of its module
export default entry
