import { describe, expect, it } from 'vitest'
import { createHandler } from '../../src/index.ts'
import { serve as serveOnBun } from '../../src/runtimes/bun.ts'
import { worker } from '../../src/runtimes/cloudflare/worker.ts'
import { serve as serveOnDeno } from '../../src/runtimes/deno.ts'
import { lambda } from '../../src/runtimes/lambda.ts'
import { nextHandlers } from '../../src/runtimes/next.ts'
import { serve as serveOnNode } from '../../src/runtimes/node.ts'
import { untyped } from '../support.ts'

/** Each entry, given something to serve. */
const entries: Readonly<Record<string, (handler: never) => unknown>> = {
  'serve of servable/node': serveOnNode,
  'serve of servable/bun': serveOnBun,
  'serve of servable/deno': serveOnDeno,
  'worker of servable/cloudflare': worker,
  'nextHandlers of servable/next': nextHandlers,
  'lambda of servable/lambda': lambda,
}

describe.each(Object.entries(entries))('%s', (name, entry) => {
  it.each([{}, undefined, null, { agents: {} }, 'handler', { fetch: 7 }])(
    'refuses what is no handler, and says what to give: %j',
    async handler => {
      const verb = name.split(' ')[0]
      const started = async () => entry(untyped<never>(handler))
      await expect(started()).rejects.toMatchObject({
        code: 'invalid_options',
        message: expect.stringMatching(new RegExp(`^.${verb}. needs a handler: .${verb}\\(createHandler\\(`)),
      })
    },
  )

  it('says so of an object around a handler', async () => {
    const started = async () => entry(untyped<never>({ fetch: createHandler({ registry: false }) }))
    await expect(started()).rejects.toThrow('give its `fetch`')
  })
})
