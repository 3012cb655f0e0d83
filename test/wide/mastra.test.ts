import { expect, it } from 'vitest'
import { answererOf, testApprovals, testShown } from '../frameworks/approvals.ts'
import { testClientTools } from '../frameworks/client-tools.ts'
import { askerOf, testFramework } from '../frameworks/contract.ts'
import { testSteering } from '../frameworks/steering.ts'

const framework = testFramework('mastra', {
  listed: { description: 'Tells the weather', model: 'test', provider: 'local.chat', tools: ['get_weather'] },
  model: 'local.chat/test',
  cut: 'length',
  toolError: 'error',
  dropped: 'provider_failed',
  quiet: false,
  thinks: true,
  remembers: true,
  structured: true,
  example: 'mastra.ts',
})

testClientTools(framework)

testSteering(framework, 'mastra')

testApprovals(framework, {
  together: false,
  toldOfBoth: ['refunded A', 'too much'],
  namesCall: true,
  remembers: true,
  tokens: [0, 24],
})

const { served } = framework
const { post, run } = askerOf(served)
const answer = answererOf(served)

it('asks what a tool asks that suspends itself, and goes on with the value', async () => {
  const first = await run('shop', 'paint it')
  expect(first.requests).toMatchObject([
    {
      id: `${first.runId}/pick_color`,
      kind: 'question',
      message: 'Which color for hue 0?',
      schema: { type: 'object', properties: { color: { type: 'string' } } },
    },
  ])
  const [{ id = '' } = {}] = first.requests ?? []
  const [status, second] = await answer(first.runId, { id, value: { color: 'red' } })
  expect([status, second]).toMatchObject([
    200,
    { text: 'The tool said: red for hue 0', finishReason: 'stop' },
  ])
})

it('says what it lacks, where Mastra has no storage, or one that forgets', async () => {
  const bare = await post('bare-shop/run', 'refund it')
  expect([bare.status, await bare.json()]).toMatchObject([409, { code: 'not_resumable' }])
  const first = await run('forgetful-shop', 'refund it')
  await served().restart()
  const [{ id = '' } = {}] = first.requests ?? []
  const second = await answer(first.runId, { id, decision: 'approve' })
  expect(second).toMatchObject([409, { code: 'not_resumable' }])
})

testShown(framework, 'The tool said: refunded A', { decision: 'approve' })
