import { describe } from 'vitest'
import { socketContract } from '../contracts/socket.ts'
import { ELSEWHERE } from '../tags.ts'
import { startBun, startDeno, startNode, startWorkerd } from './harness.ts'

const entry = (name: string) => `test/runtimes/entries/socket-${name}.ts`

describe('Node', () => socketContract(() => startNode(entry('node'))))

describe('Bun', ELSEWHERE, () => socketContract(() => startBun(entry('bun'))))

describe('Deno', ELSEWHERE, () => socketContract(() => startDeno(entry('deno'))))

describe('workerd', ELSEWHERE, () =>
  socketContract(() => startWorkerd(entry('workerd'), { objects: { SOCKETS: 'SocketObject' } })),
)
