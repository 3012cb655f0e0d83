import { describe } from 'vitest'
import { type Deploy, runsContract } from '../contracts/runs.ts'
import { deploymentsOf } from './deployments.ts'

const { nodeInMemory, node, bun, deno, workerd } = deploymentsOf('runs')

const deployments: Readonly<Record<string, Deploy>> = {
  'Node, in memory': nodeInMemory,
  'Node, in SQLite': node,
  'Bun, in SQLite': bun,
  'Deno, in SQLite': deno,
  'workerd, in Durable Objects': workerd,
}

describe.each(Object.entries(deployments))('%s', (_, deploy) => runsContract(deploy))
