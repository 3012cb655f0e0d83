import { guardsContract } from '../contracts/guards.ts'
import { deploymentsOf, everywhere } from './deployments.ts'

everywhere(deploymentsOf('guards'), guardsContract)
