import { queueContract } from '../contracts/queue.ts'
import { deploymentsOf, everywhere } from './deployments.ts'

everywhere(deploymentsOf('queue'), queueContract)
