import { webhooksContract } from '../contracts/webhooks.ts'
import { deploymentsOf, everywhere } from './deployments.ts'

everywhere(deploymentsOf('webhooks'), webhooksContract)
