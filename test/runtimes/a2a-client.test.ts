/** Remote agents of every runtime against servers of servable and of the reference SDK. */
import { describe, expect, it } from 'vitest'
import { hostileCases } from '../contracts/a2a-client/hostile.ts'
import { kindCases } from '../contracts/a2a-client/kinds.ts'
import { others } from '../contracts/a2a-client/others.ts'
import { FEW, WAYS } from '../contracts/a2a-client/ways.ts'
import { run } from '../contracts/http/client.ts'
import { served } from '../contracts/served.ts'
import { ELSEWHERE } from '../tags.ts'
import { type Deploy, deploymentsOf } from './deployments.ts'

const settings = others()

const { nodeInMemory, bun, deno, workerd } = deploymentsOf('a2a-client')

describe('Node', () => cases(nodeInMemory, Object.keys(WAYS)))

describe('Bun', ELSEWHERE, () => cases(bun, FEW))

describe('Deno', ELSEWHERE, () => cases(deno, FEW))

describe('workerd', ELSEWHERE, () => cases(workerd, FEW))

function cases(deploy: Deploy, names: readonly string[]): void {
  const server = served(() => deploy(settings()))
  for (const name of names) kindCases(name, server)

  it('remote agents are steps of a workflow and members of a team', async () => {
    const flow = await run(server, '/api/workflows/flow/run', { input: 'words a b' })
    expect(flow.text.trim()).toBe('a b')
    const team = await run(server, '/api/teams/team/run', { input: 'words words a' })
    expect(team.text).toContain('a')
  })

  hostileCases(server)
}
