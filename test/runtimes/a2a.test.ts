import { describe } from 'vitest'
import { a2aContract, a2aSmoke, type Deploy } from '../contracts/a2a.ts'
import { deploymentsOf } from './deployments.ts'

const { nodeInMemory, node, bun, deno, workerd } = deploymentsOf('a2a')

const deployments: Readonly<Record<string, Deploy>> = {
  'Node, in memory': nodeInMemory,
  'Node, in SQLite': node,
  'workerd, in Durable Objects': workerd,
}

describe.each(Object.entries(deployments))('%s', (_, deploy) => a2aContract(deploy))

const smoke: Readonly<Record<string, Deploy>> = { 'Bun, in SQLite': bun, 'Deno, in SQLite': deno }

describe.each(Object.entries(smoke))('%s', (_, deploy) => a2aSmoke(deploy))
