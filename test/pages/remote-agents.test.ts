/** What the page about remote agents shows does what it says. */

import { rm } from 'node:fs/promises'
import { exportJWK, generateKeyPair } from 'jose'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Agent, createHandler, type Handler, type ServableAgent, textOf } from '../../src/index.ts'
import { cardSigner, type SigningKey, type VerifyingKey } from '../../src/protocols/signing/index.ts'
import { serve } from '../../src/runtimes/node.ts'
import { jsonRequest } from '../contracts/http/client.ts'
import { fencesOf, load, snippetsIn, writeSnippets } from './pages.ts'

const snippets = snippetsIn(fencesOf(['remote-agents.md']))

interface Other {
  readonly url: string
  /** The credentials that came with the messages. */
  readonly tokens: (string | null)[]
  close(): Promise<void>
}

/** Another service. Its agent says the input in brackets. */
async function other(sign?: ReturnType<typeof cardSigner>): Promise<Other> {
  const tokens: (string | null)[] = []
  const agent = new Agent({ name: 'there', run: input => `[${textOf(input)}]`, register: false })
  const a2a = sign === undefined ? {} : { sign }
  const handler = createHandler({ registry: false, logger: false, serve: [agent], a2a })
  const noting: Handler = (request, ...more) => {
    if (request.method === 'POST') tokens.push(request.headers.get('authorization'))
    return handler(request, ...more)
  }
  const server = await serve(noting, { port: 0, hostname: '127.0.0.1' })
  return { url: server.url, tokens, close: () => server.close() }
}

/** The snippets with all other services at one address, which they may reach. */
const writtenFor = ({ url }: Other) =>
  writeSnippets(snippets, text =>
    text
      .replace(/'https:\/\/\w+\.example\.com'/g, `'${url}'`)
      .replace(/remoteAgent\(\{/g, "remoteAgent({ allow: ['127.0.0.1'],"),
  )

let there: Other
let folder: string
beforeAll(async () => {
  process.env.BILLING_TOKEN = 'token-of-billing'
  there = await other()
  folder = await writtenFor(there)
})
afterAll(async () => {
  delete process.env.BILLING_TOKEN
  await there.close()
  await rm(folder, { recursive: true, force: true })
})

async function ask(name: string, path: string) {
  const { handler } = await load<{ handler: Handler }>(folder, name)
  const response = await handler(
    new Request(`http://localhost/api/${path}/run`, jsonRequest({ input: 'hi' })),
  )
  return (await response.json()) as { readonly text: string }
}

describe('the page about remote agents', () => {
  it('asks an agent of another service, with a token', async () => {
    expect(await ask('remote-agents.ts', 'agents/billing')).toMatchObject({ text: '[hi]' })
    expect(there.tokens).toEqual(['Bearer token-of-billing'])
  })

  it('asks two of them in a workflow', async () => {
    expect(await ask('remote-agents-workflow.ts', 'workflows/article')).toMatchObject({ text: '[[hi]]' })
  })

  it('sends the token of a user', async () => {
    there.tokens.length = 0
    await ask('remote-agents-users.ts', 'agents/files')
    expect(there.tokens).toEqual([null])
  })

  it('takes a card that is signed, and no other', async () => {
    const { privateKey, publicKey } = await generateKeyPair('ES256', { extractable: true })
    const facts = { kid: 'k', alg: 'ES256' }
    const signed = await other(
      cardSigner({ keys: { ...(await exportJWK(privateKey)), ...facts } as SigningKey }),
    )
    const { verified } = await load<{
      verified: (url: string, keys: readonly VerifyingKey[]) => ServableAgent
    }>(folder, 'remote-agents-verify.ts')
    const keys = [{ ...(await exportJWK(publicKey)), ...facts } as VerifyingKey]
    try {
      expect(await verified(signed.url, keys).run('hi')).toMatchObject({ text: '[hi]' })
      await expect(verified(there.url, keys).run('hi')).rejects.toMatchObject({ code: 'provider_failed' })
    } finally {
      await signed.close()
    }
  })
})
