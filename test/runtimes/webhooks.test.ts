import { CONNECTIONS } from '../contracts/connections.ts'
import { webhooksContract } from '../contracts/webhooks.ts'
import { deploymentsOf, everywhere } from './deployments.ts'

everywhere(deploymentsOf('webhooks'), webhooksContract, deploy => CONNECTIONS.webhooks(deploy))
