import { describe } from 'vitest'
import { type Deploy, runsContract } from '../contracts/runs.ts'
import { ELSEWHERE } from '../tags.ts'
import { deploymentsOf } from './deployments.ts'

const { nodeInMemory, node, bun, deno, workerd } = deploymentsOf('runs')

const deployments: Readonly<Record<string, Deploy>> = {
  'Node, in SQLite': node,
  'Bun, in SQLite': bun,
  'Deno, in SQLite': deno,
  'workerd, in Durable Objects': workerd,
}

describe('Node, in memory', () => runsContract(nodeInMemory, { cutEvents: 200 }))

describe.each(Object.entries(deployments))('%s', ELSEWHERE, (_, deploy) => runsContract(deploy))
