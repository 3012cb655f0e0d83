import { describe } from 'vitest'
import { openaiContract } from '../contracts/openai.ts'
import { ELSEWHERE } from '../tags.ts'
import { deploymentsOf } from './deployments.ts'

const { nodeInMemory, node, workerd } = deploymentsOf('openai')

describe('Node, in memory', () => openaiContract(nodeInMemory, 100))

describe.each([
  ['Node, in SQLite', node],
  ['workerd, in Durable Objects', workerd],
] as const)('%s', ELSEWHERE, (_, deploy) => openaiContract(deploy))
