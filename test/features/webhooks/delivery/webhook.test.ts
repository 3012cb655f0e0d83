import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { signWebhook, webhookKey } from '../../../../src/features/webhooks/delivery/webhook.ts'
import { verifyWebhook } from '../../../../src/index.ts'

const SECRET = 'whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY='
const OTHER = 'MDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDA='

async function requestOf(
  body: string,
  { secret = SECRET, sentAt = Date.now(), id = 'a.b.1' } = {},
): Promise<Request> {
  const headers = await signWebhook(webhookKey(secret, 'secret'), { id, sentAt, body })
  return new Request('https://receiver.example/', { method: 'POST', headers, body })
}

const refused = { code: 'unauthorized' }

describe('verifyWebhook', () => {
  it('reads whatever was signed', async () => {
    await fc.assert(
      fc.asyncProperty(fc.jsonValue(), fc.stringMatching(/^[\x21-\x7e]{1,40}$/), async (value, id) => {
        const text = JSON.stringify(value)
        const { payload, ...rest } = await verifyWebhook(await requestOf(text, { id }), SECRET)
        expect(payload).toEqual(JSON.parse(text))
        expect(rest.id).toBe(id)
      }),
    )
  })

  it('agrees with the example of the standard', async () => {
    // Standard Webhooks 1.0.0: the secret, the message and the signature of its documentation.
    const body = '{"test": 2432232314}'
    const headers = await signWebhook(webhookKey('whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', 'secret'), {
      id: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
      sentAt: 1_614_265_330_000,
      body,
    })
    expect(headers['webhook-signature']).toBe('v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=')
  })

  it('refuses any change of the id, the moment and the body', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom('webhook-id', 'webhook-timestamp', 'webhook-signature', 'body'),
        fc.string({ maxLength: 20 }),
        async (what, put) => {
          const request = await requestOf('{"a":1}')
          const headers = new Headers(request.headers)
          const before = what === 'body' ? '{"a":1}' : headers.get(what)
          const value = put.replace(/[^\x20-\x7e]/g, '').trim()
          fc.pre(value !== before)
          if (what !== 'body') headers.set(what, value)
          const body = what === 'body' ? value : '{"a":1}'
          const changed = new Request(request.url, { method: 'POST', headers, body })
          await expect(verifyWebhook(changed, SECRET)).rejects.toMatchObject(refused)
        },
      ),
    )
  })

  it('takes any of several secrets, and any of several signatures', async () => {
    const request = await requestOf('1', { secret: OTHER })
    expect(await verifyWebhook(request.clone() as Request, [SECRET, OTHER])).toMatchObject({ payload: 1 })
    await expect(verifyWebhook(request.clone() as Request, SECRET)).rejects.toMatchObject(refused)
    const both = new Headers(request.headers)
    both.set('webhook-signature', `v1a,xyz v1,!! v1,AAAA ${both.get('webhook-signature')}`)
    const rotated = new Request(request.url, { method: 'POST', headers: both, body: '1' })
    expect(await verifyWebhook(rotated, OTHER)).toMatchObject({ payload: 1 })
  })

  it('refuses what was sent too long ago, or is yet to be sent', async () => {
    for (const away of [-301_000, 302_000]) {
      const request = await requestOf('1', { sentAt: Date.now() + away })
      await expect(verifyWebhook(request.clone() as Request, SECRET)).rejects.toMatchObject(refused)
      expect(await verifyWebhook(request, SECRET, { toleranceMs: 400_000 })).toMatchObject({ payload: 1 })
    }
  })

  it('has a bound, wants JSON, and names a secret that is none', async () => {
    const long = await requestOf(JSON.stringify('x'.repeat(2000)))
    await expect(verifyWebhook(long, SECRET, { maxBodyBytes: 1000 })).rejects.toMatchObject({
      code: 'body_too_large',
    })
    await expect(verifyWebhook(await requestOf('{'), SECRET)).rejects.toMatchObject({ code: 'invalid_body' })
    for (const secret of ['', 'short', 'whsec_', undefined as never]) {
      await expect(verifyWebhook(await requestOf('1'), secret)).rejects.toMatchObject({
        code: 'invalid_options',
        message: expect.stringContaining('openssl rand -base64 32'),
      })
    }
  })
})
