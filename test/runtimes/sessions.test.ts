import { describe } from 'vitest'
import { sessionsContract } from '../contracts/sessions.ts'
import { ELSEWHERE } from '../tags.ts'
import { type Deploy, deploymentsOf } from './deployments.ts'

const { nodeInMemory, node, bun, deno, workerd } = deploymentsOf('sessions')

const deployments: Readonly<Record<string, Deploy>> = {
  'Node, in SQLite': node,
  'Bun, in SQLite': bun,
  'Deno, in SQLite': deno,
  'workerd, in Durable Objects': workerd,
}

describe('Node, in memory', () => sessionsContract(nodeInMemory))

describe.each(Object.entries(deployments))('%s', ELSEWHERE, (name, deploy) =>
  sessionsContract(deploy, { counts: !name.startsWith('workerd') }),
)
