import { array, assert, asyncProperty, nat, record, string, uint8Array } from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isMultipart, readForm } from '../../src/web/multipart.ts'

const BOUNDS = { maxBytes: 1_000_000, maxParts: 8, timeoutMs: 10_000 }

/** The bytes of a form and its content type. */
async function encode(form: FormData): Promise<{ bytes: Uint8Array; type: string }> {
  const response = new Response(form)
  return {
    type: response.headers.get('content-type') ?? '',
    bytes: new Uint8Array(await response.arrayBuffer()),
  }
}

/** A request whose body comes in pieces of this many bytes. */
function request(bytes: Uint8Array, type: string, size: number): Request {
  let at = 0
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      if (at >= bytes.length) return controller.close()
      controller.enqueue(bytes.slice(at, at + size))
      at += size
    },
  })
  const init = { method: 'POST', headers: { 'content-type': type }, body, duplex: 'half' }
  return new Request('http://127.0.0.1/', init)
}

async function entriesOf(form: FormData): Promise<unknown[]> {
  const entries = []
  for (const [name, value] of form) {
    entries.push([name, typeof value === 'string' ? value : new Uint8Array(await value.arrayBuffer())])
  }
  return entries
}

const parts = record({
  fields: array(string({ unit: 'grapheme', maxLength: 30 }), { maxLength: 4 }),
  files: array(uint8Array({ maxLength: 200 }), { maxLength: 3 }),
}).map(({ fields, files }) => {
  const form = new FormData()
  // Line ends are made CRLF where a form is written.
  for (const [index, text] of fields.entries()) form.append(`f${index}`, text.replace(/[\r\n]/g, ' '))
  for (const [index, bytes] of files.entries()) form.append('files', new File([bytes], `${index}.bin`))
  form.append('input', 'x')
  return form
})

describe('a form', () => {
  it('is the same, however it is cut into pieces', () =>
    assert(
      asyncProperty(parts, nat(60), async (form, size) => {
        const { bytes, type } = await encode(form)
        const read = await readForm(request(bytes, type, size + 1), BOUNDS)
        expect(await entriesOf(read)).toEqual(await entriesOf(form))
      }),
    ))

  it('has as many parts as may be, or is refused, however it is cut into pieces', () =>
    assert(
      asyncProperty(parts, nat(60), async (form, size) => {
        const { bytes, type } = await encode(form)
        const count = [...form].length
        const readWith = (maxParts: number) =>
          readForm(request(bytes, type, size + 1), { ...BOUNDS, maxParts })
        expect([...(await readWith(count))]).toHaveLength(count)
        await expect(readWith(count - 1)).rejects.toMatchObject({ code: 'invalid_body' })
      }),
    ))

  it('is read no further than its last part that may be', async () => {
    const part = '--b\r\ncontent-disposition: form-data; name="a"\r\n\r\n\r\n'
    const bytes = new TextEncoder().encode(part.repeat(10_000))
    let read = 0
    const counted = new Proxy(bytes, {
      get(target, name) {
        const value = Reflect.get(target, name)
        if (name !== 'slice') return typeof value === 'function' ? value.bind(target) : value
        return (from: number, to: number) => {
          read = to
          return target.slice(from, to)
        }
      },
    })
    const sent = request(counted, 'multipart/form-data; boundary=b', 1000)
    await expect(readForm(sent, BOUNDS)).rejects.toMatchObject({ code: 'invalid_body' })
    expect(read).toBeLessThan(5000)
  })

  it('is refused where it is cut off anywhere', () =>
    assert(
      asyncProperty(parts, nat(), nat(60), async (form, at, size) => {
        const { bytes, type } = await encode(form)
        // White space after the last boundary is not missed.
        const cut = bytes.subarray(0, at % (bytes.length - 4))
        const reading = readForm(request(cut, type, size + 1), BOUNDS)
        await expect(reading).rejects.toMatchObject({ code: 'invalid_body' })
      }),
    ))

  it('may have its boundary in quotes, and white space after its end', async () => {
    const body = '--a b\r\ncontent-disposition: form-data; name="input"\r\n\r\nhi\r\n--a b--\r\n'
    const type = 'Multipart/Form-Data; charset=utf-8; Boundary="a b"'
    const form = await readForm(request(new TextEncoder().encode(body), type, 7), BOUNDS)
    expect(form.get('input')).toBe('hi')
  })

  it.each([
    'multipart/form-data; note="; boundary=a;"; boundary=x--a',
    'multipart/form-data; boundary=x--a; boundary=a',
    'multipart/form-data; boundary=a; boundary=x--a',
  ])('has no more parts than may be, whatever else its type says: %s', async type => {
    // Where one boundary ends a form, the other one does, too.
    const part = '--x--a\r\ncontent-disposition: form-data; name="a"\r\n\r\nv\r\n'
    const bytes = new TextEncoder().encode(`${part.repeat(100)}--x--a--`)
    const reading = readForm(request(bytes, type, 1000), BOUNDS)
    await expect(reading).rejects.toMatchObject({ code: 'invalid_body' })
  })

  it.each<[string, boolean]>([
    ['multipart/form-data; boundary=b', true],
    ['Multipart/Form-Data;boundary=b', true],
    ['multipart/form-database', false],
    ['multipart/mixed; boundary=b', false],
    ['application/json', false],
  ])('is declared: %s', (type, expected) => {
    expect(isMultipart(new Request('http://127.0.0.1/', { headers: { 'content-type': type } }))).toBe(
      expected,
    )
  })
})
