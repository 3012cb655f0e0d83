import { describe } from 'vitest'
import { type Deploy, runsConnectionContract, runsContract } from '../contracts/runs.ts'
import { ELSEWHERE } from '../tags.ts'
import { deploymentsOf } from './deployments.ts'

const { nodeInMemory, node, bun, deno, workerd } = deploymentsOf('runs')

const deployments: Readonly<Record<string, Deploy>> = {
  'Node, in SQLite': node,
  'workerd, in Durable Objects': workerd,
}

describe('Node, in memory', () => runsContract(nodeInMemory, { cutEvents: 200 }))

describe.each(Object.entries(deployments))('%s', ELSEWHERE, (_, deploy) => runsContract(deploy))

const others: Readonly<Record<string, Deploy>> = { 'Bun, in SQLite': bun, 'Deno, in SQLite': deno }

describe.each(Object.entries(others))('%s', ELSEWHERE, (_, deploy) => runsConnectionContract(deploy))
