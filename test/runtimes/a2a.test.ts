import { describe } from 'vitest'
import { a2aContract, a2aSmoke, type Deploy } from '../contracts/a2a.ts'
import { ELSEWHERE } from '../tags.ts'
import { deploymentsOf } from './deployments.ts'

const { nodeInMemory, node, bun, deno, workerd } = deploymentsOf('a2a')

const deployments: Readonly<Record<string, Deploy>> = {
  'Node, in SQLite': node,
  'workerd, in Durable Objects': workerd,
}

describe('Node, in memory', () => a2aContract(nodeInMemory))

describe.each(Object.entries(deployments))('%s', ELSEWHERE, (_, deploy) => a2aContract(deploy))

const smoke: Readonly<Record<string, Deploy>> = { 'Bun, in SQLite': bun, 'Deno, in SQLite': deno }

describe.each(Object.entries(smoke))('%s', ELSEWHERE, (_, deploy) => a2aSmoke(deploy))
