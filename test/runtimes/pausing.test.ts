import { pausingContract } from '../contracts/pausing.ts'
import { deploymentsOf, everywhere } from './deployments.ts'

everywhere(deploymentsOf('pausing'), pausingContract)
