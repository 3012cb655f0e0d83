import { runsConnectionContract, runsContract } from '../contracts/runs.ts'
import { deploymentsOf, everywhere } from './deployments.ts'

everywhere(
  deploymentsOf('runs'),
  (deploy, name) =>
    runsContract(deploy, name === 'Node, in memory' ? { cutEvents: 200, isVolatile: true } : {}),
  deploy => runsConnectionContract(deploy),
)
