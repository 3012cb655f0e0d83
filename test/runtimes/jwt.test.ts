import { describe } from 'vitest'
import { jwtContract } from '../contracts/jwt.ts'
import { ELSEWHERE } from '../tags.ts'
import { deploymentsOf } from './deployments.ts'

// It keeps nothing in the state: the store makes no difference.
const { nodeInMemory, bun, deno, workerd } = deploymentsOf('jwt')

describe('Node, in memory', () => jwtContract(nodeInMemory))
describe.each([
  ['workerd', workerd],
  ['Bun', bun],
  ['Deno', deno],
])('%s', ELSEWHERE, (_, deploy) => jwtContract(deploy))
