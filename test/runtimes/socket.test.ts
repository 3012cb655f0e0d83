import { describe } from 'vitest'
import { socketContract } from '../contracts/socket.ts'
import { startBun, startDeno, startNode, startWorkerd } from './harness.ts'

const entry = (name: string) => `test/runtimes/entries/socket-${name}.ts`

describe('Node', () => socketContract(() => startNode(entry('node'))))

describe('Bun', () => socketContract(() => startBun(entry('bun'))))

describe('Deno', () => socketContract(() => startDeno(entry('deno'))))

describe('workerd', () =>
  socketContract(() => startWorkerd(entry('workerd'), { objects: { SOCKETS: 'SocketObject' } })))
