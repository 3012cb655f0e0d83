// The service in Durable Objects. Its second step has no end if SECOND says so.
import { env } from 'cloudflare:workers'
import { Agent, createHandler, Workflow } from '../../src/index.ts'
import { durableObjects, durableState, worker } from '../../src/runtimes/cloudflare.ts'
import { serviceOf } from './service.ts'

const { SECOND } = env as { readonly SECOND?: string }
const second = () => (SECOND === 'never' ? new Promise<string>(() => {}) : 'second')

const handler = serviceOf({ Agent, Workflow, createHandler }, durableState(), second)

export const { ServableRun, ServableIndex } = durableObjects(handler)

// biome-ignore lint/style/noDefaultExport: a Worker is the default export of its module
export default { fetch: worker(handler) }
