import { describe, expect, it, vi } from 'vitest'
import { checkResponse, withHeaders, withoutBody } from '../../src/web/response.ts'

describe('checkResponse', () => {
  it('passes a response on', () => {
    const response = new Response()
    expect(checkResponse(response, 'x')).toBe(response)
  })

  it.each([undefined, null, 5, 'text', {}, [], () => {}])('refuses %s and names who gave it', value => {
    expect(() => checkResponse(value, '`fallback`')).toThrow(
      expect.objectContaining({ code: 'internal_error', message: expect.stringContaining('`fallback`') }),
    )
  })
})

describe('withHeaders', () => {
  const change = (headers: Headers) => headers.set('x-a', '1')

  it('changes a response in place', () => {
    const response = new Response('x')
    expect(withHeaders(response, change)).toBe(response)
    expect(response.headers.get('x-a')).toBe('1')
  })

  it('changes a copy where the headers cannot be changed', async () => {
    const response = Response.redirect('http://h/there', 307)
    const changed = withHeaders(response, change)
    expect(changed.status).toBe(307)
    expect(changed.headers.get('location')).toBe('http://h/there')
    expect(changed.headers.get('x-a')).toBe('1')
    expect(response.headers.has('x-a')).toBe(false)
  })
})

describe('withoutBody', () => {
  it('keeps status and headers, and cancels the body', () => {
    const cancel = vi.fn()
    const body = new ReadableStream({ cancel })
    const response = withoutBody(
      new Response(body, { status: 201, statusText: 'Made', headers: { 'x-a': '1' } }),
    )
    expect(response).toMatchObject({ body: null, status: 201, statusText: 'Made' })
    expect(response.headers.get('x-a')).toBe('1')
    expect(cancel).toHaveBeenCalledTimes(1)
  })

  it('passes a response without a body on', () => {
    const response = new Response(null, { status: 204 })
    expect(withoutBody(response)).toBe(response)
  })
})
