import { describe } from 'vitest'
import { queueContract } from '../contracts/queue.ts'
import { ELSEWHERE } from '../tags.ts'
import { type Deploy, deploymentsOf } from './deployments.ts'

const { nodeInMemory, node, bun, deno, workerd } = deploymentsOf('queue')

const deployments: Readonly<Record<string, Deploy>> = {
  'Node, in SQLite': node,
  'Bun, in SQLite': bun,
  'Deno, in SQLite': deno,
  'workerd, in Durable Objects': workerd,
}

describe('Node, in memory', () => queueContract(nodeInMemory))

describe.each(Object.entries(deployments))('%s', ELSEWHERE, (_, deploy) => queueContract(deploy))
