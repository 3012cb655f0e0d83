import { CONNECTIONS } from '../contracts/connections.ts'
import { guardsContract } from '../contracts/guards.ts'
import { deploymentsOf, everywhere } from './deployments.ts'

everywhere(deploymentsOf('guards'), guardsContract, deploy => CONNECTIONS.guards(deploy))
