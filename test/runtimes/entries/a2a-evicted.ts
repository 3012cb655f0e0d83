// The Worker of the A2A contract. It also counts how often the objects of tasks were made.
import { durableObjects, durableState, worker } from '../../../src/runtimes/cloudflare.ts'
import { a2aHandler, a2aOptions } from '../../contracts/a2a/service.ts'
import { counted, counting } from './counting.ts'

const handler = a2aHandler(a2aOptions(durableState(), 'patient'))

// biome-ignore lint/style/noDefaultExport: a Worker is the default export of its module
export default counting(worker(handler))

const { ServableRun: Run, ServableIndex } = durableObjects(handler)

export { ServableIndex }

export const ServableRun = counted(Run)
