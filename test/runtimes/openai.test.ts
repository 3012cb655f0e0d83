import { describe } from 'vitest'
import { openaiContract } from '../contracts/openai.ts'
import { ELSEWHERE } from '../tags.ts'
import { type Deploy, deploymentsOf } from './deployments.ts'

const { nodeInMemory, node, bun, deno, workerd } = deploymentsOf('openai')

const deployments: Readonly<Record<string, Deploy>> = {
  'Node, in SQLite': node,
  'Bun, in SQLite': bun,
  'Deno, in SQLite': deno,
  'workerd, in Durable Objects': workerd,
}

describe('Node, in memory', () => openaiContract(nodeInMemory, 100))

describe.each(Object.entries(deployments))('%s', ELSEWHERE, (_, deploy) => openaiContract(deploy))
