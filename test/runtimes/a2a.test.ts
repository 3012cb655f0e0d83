import { a2aContract, a2aSmoke, a2aStateContract } from '../contracts/a2a.ts'
import { deploymentsOf, everywhere } from './deployments.ts'

everywhere(deploymentsOf('a2a'), a2aContract, a2aSmoke, { stored: a2aStateContract })
