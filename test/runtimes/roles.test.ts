import { describe } from 'vitest'
import { rolesContract } from '../contracts/roles.ts'
import { ELSEWHERE } from '../tags.ts'
import { deploymentsOf } from './deployments.ts'

const { nodeInMemory, node, bun, deno, workerd } = deploymentsOf('roles')

describe('Node, in memory', () => rolesContract(nodeInMemory))
describe.each([
  ['Node, in SQLite', node],
  ['workerd', workerd],
  ['Bun', bun],
  ['Deno', deno],
])('%s', ELSEWHERE, (_, deploy) => rolesContract(deploy))
