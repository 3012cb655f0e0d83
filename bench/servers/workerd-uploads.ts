import { worker } from '../../src/runtimes/cloudflare.ts'
import { crowdedUploads } from './uploads.ts'

export default { fetch: worker(crowdedUploads) }
