import { describe } from 'vitest'
import { type Deploy, gatewayContract } from '../contracts/gateway.ts'
import { deploymentsOf } from './deployments.ts'

const { nodeInMemory, node, bun, deno, workerd } = deploymentsOf('gateway')

const deployments: Readonly<Record<string, Deploy>> = {
  'Node, in memory': nodeInMemory,
  'Node, in SQLite': node,
  'Bun, in SQLite': bun,
  'Deno, in SQLite': deno,
  'workerd, in Durable Objects': workerd,
}

describe.each(Object.entries(deployments))('%s', (_, deploy) => gatewayContract(deploy))
