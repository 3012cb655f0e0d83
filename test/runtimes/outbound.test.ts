/** What is sent to addresses that others give, from a process of its own that must survive it. */
import { describe } from 'vitest'
import { type Ask, clientCases, survivingCases } from '../contracts/outbound/cases.ts'
import { secureCases, startSecureServer } from '../contracts/outbound/secure.ts'
import { served } from '../contracts/served.ts'
import { ELSEWHERE } from '../tags.ts'
import { type Runtime, startBun, startDeno, startNode, startWorkerd } from './harness.ts'

const entry = (runtime: string) => `test/runtimes/entries/outbound-${runtime}.ts`

/** A service that takes what to send from tests. */
function asking(start: () => Promise<Runtime>): Ask {
  const service = served(start)
  return async asked => {
    const body = JSON.stringify(asked)
    const response = await fetch(service().url, { method: 'POST', body })
    return response.json()
  }
}

/** All cases, for a runtime with a client that takes addresses. */
function allCases(start: (env: Record<string, string>) => Promise<Runtime>): void {
  const secure = served(startSecureServer)
  const ask = asking(() =>
    start({ NODE_EXTRA_CA_CERTS: secure().certificate, DENO_CERT: secure().certificate }),
  )
  survivingCases(ask)
  clientCases(ask)
  secureCases(ask, secure)
}

describe('Node', () => allCases(env => startNode(entry('node'), { env })))

describe('Bun', ELSEWHERE, () => allCases(env => startBun(entry('bun'), { env })))

const COLLECTING = '--v8-flags=--expose-gc'

describe('Deno', ELSEWHERE, () =>
  allCases(env => startDeno(entry('deno'), { env, allow: ['--allow-all', COLLECTING] })),
)

describe('Deno with few permissions', ELSEWHERE, () =>
  survivingCases(asking(() => startDeno(entry('deno'), { allow: [COLLECTING] }))),
)

describe('workerd', ELSEWHERE, () => survivingCases(asking(() => startWorkerd(entry('workerd')))))
