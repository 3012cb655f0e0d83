/** Uses two generated clients against the server in `SERVER`, and prints their results as JSON. */
import createClient from 'openapi-fetch'
import type { paths } from './schema'
import { client } from './sdk/client.gen'
import { getRun, runAgent, streamAgent } from './sdk/sdk.gen'

declare const process: { env: { SERVER: string } }
const baseUrl = process.env.SERVER
const token = 'token-of-ada'

/** A run may also be answered with a record, after `Prefer: respond-async`. */
const textOf = (answer: { text: string } | object | undefined) =>
  answer !== undefined && 'text' in answer ? answer.text : undefined

async function withFetch() {
  const api = createClient<paths>({ baseUrl, headers: { authorization: `Bearer ${token}` } })
  const path: paths['/bearer/api/agents/{name}/run']['post']['parameters']['path'] = { name: 'echo' }
  const { data } = await api.POST('/bearer/api/agents/{name}/run', {
    params: { path },
    body: { input: 'typed' },
  })
  const wrong = await api.POST('/bearer/api/agents/{name}/run', { params: { path }, body: { input: '' } })
  // @ts-expect-error No agent has this name.
  const unknown: typeof path = { name: 'no' }
  const nobody = await api.POST('/bearer/api/agents/{name}/run', {
    params: { path: unknown },
    body: { input: 'x' },
  })
  const listed = await api.GET('/bearer/api/agents')
  return {
    text: textOf(data),
    wrong: wrong.error?.code,
    nobody: nobody.error?.code,
    agents: listed.data?.map(({ name }) => name),
  }
}

async function withSdk() {
  // The document says where the token goes.
  client.setConfig({ baseUrl, auth: ({ type }) => (type === 'http' ? token : undefined) })
  const { data } = await runAgent({ path: { name: 'echo' }, body: { input: 'typed' } })
  const keyed = await runAgent({
    path: { name: 'echo' },
    body: { input: 'keyed', apiKey: 'sk-test' },
    headers: { 'Idempotency-Key': 'a' },
  })
  const missing = await getRun({ path: { id: '00000000-0000-4000-8000-000000000000' } })
  const { stream } = await streamAgent({ path: { name: 'echo' }, body: { input: 'one two' } })
  let text = ''
  let last = ''
  for await (const event of stream) {
    if ('type' in event && event.type === 'text') text += event.text
    if ('type' in event) last = event.type
  }
  return { text: textOf(data), keyed: textOf(keyed.data), missing: missing.error?.code, streamed: text, last }
}

console.log(JSON.stringify({ fetch: await withFetch(), sdk: await withSdk() }))
