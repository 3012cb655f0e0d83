import { anthropicContract } from '../contracts/anthropic.ts'
import { deploymentsOf, everywhere } from './deployments.ts'

everywhere(deploymentsOf('anthropic'), anthropicContract)
