import { describe } from 'vitest'
import { socketContract } from '../contracts/socket.ts'
import { ELSEWHERE } from '../tags.ts'
import { startBun, startDeno, startNode, startWorkerd } from './harness.ts'

const ENTRY = 'test/runtimes/entries/socket-server.ts'

describe('Node', () => socketContract(() => startNode(ENTRY)))

describe('Bun', ELSEWHERE, () => socketContract(() => startBun(ENTRY)))

describe('Deno', ELSEWHERE, () => socketContract(() => startDeno(ENTRY)))

describe('workerd', ELSEWHERE, () =>
  socketContract(() =>
    startWorkerd('test/runtimes/entries/socket-workerd.ts', { objects: { SOCKETS: 'SocketObject' } }),
  ),
)
