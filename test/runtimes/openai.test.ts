import { describe } from 'vitest'
import { leavingCases } from '../contracts/openai/leaving.ts'
import { tellingCases } from '../contracts/openai/telling.ts'
import { openaiContract } from '../contracts/openai.ts'
import { served } from '../contracts/served.ts'
import { ELSEWHERE } from '../tags.ts'
import { deploymentsOf } from './deployments.ts'

const { nodeInMemory, node, bun, deno, workerd } = deploymentsOf('openai')

describe('Node, in memory', () => openaiContract(nodeInMemory, 100))

describe.each([
  ['Node, in SQLite', node],
  ['workerd, in Durable Objects', workerd],
] as const)('%s', ELSEWHERE, (_, deploy) => openaiContract(deploy))

describe.each([
  ['Bun, in SQLite', bun],
  ['Deno, in SQLite', deno],
] as const)('%s', ELSEWHERE, (_, deploy) => {
  const server = served(() => deploy('usual'))
  tellingCases(server)
  leavingCases(server)
})
