import { execFileSync } from 'node:child_process'
import { expect, it } from 'vitest'
import { clientCode, curl, openaiCode, quoted, type Shown, useChatCode } from '../../../console/chat/code.ts'

const ask = { header: 'authorization', prefix: 'Bearer ', label: 'Bearer token' }
const run: Shown = {
  base: 'http://127.0.0.1:8787/api',
  kind: 'agent',
  name: 'helper',
  input: 'Oslo?',
  hasKey: false,
}

/** What a shell makes of the words of a command. */
function wordsOf(command: string): string[] {
  const script = command.replace(/^curl /, `printf '%s\\0' `)
  return execFileSync('sh', ['-c', script], { env: { TOKEN: 'the token', KEY: 'the key' }, encoding: 'utf8' })
    .split('\0')
    .slice(0, -1)
}

it('is a command of curl', () => {
  expect(curl({ ...run, ask, hasKey: true, sessionId: 's' })).toBe(
    `curl -N 'http://127.0.0.1:8787/api/agents/helper/stream' \\
  -H 'content-type: application/json' \\
  -H 'authorization: Bearer '"$TOKEN" \\
  -H 'x-api-key: '"$KEY" \\
  -d '{"input":"Oslo?","sessionId":"s"}'`,
  )
})

it.each([
  "it's",
  '$(touch x) `id` "$TOKEN" \\ !x',
  'a\nb\u0000c\u202ed',
  "';rm -rf x;'",
  'grüße 👨‍👩‍👧 \u{e0041}',
  '%s%n',
  '-',
])('gives a shell nothing to run: %j', text => {
  const words = wordsOf(curl({ ...run, name: text, input: text, sessionId: text, ask }))
  expect(words).toHaveLength(8)
  expect(words[1]).toBe(`http://127.0.0.1:8787/api/agents/${encodeURIComponent(text)}/stream`)
  expect(words[5]).toBe('authorization: Bearer the token')
  expect(JSON.parse(words[7]!)).toEqual({ input: text, sessionId: text })
  expect(words[7]).not.toMatch(/[\p{Cc}\p{Cf}]/u)
  if (!text.includes('\0')) expect(wordsOf(`curl ${quoted(text)}`)).toEqual([text])
})

it('shows no data of large files', () => {
  const input = [{ type: 'file', data: 'A'.repeat(1000), mimeType: 'a/b', filename: 'a' } as const]
  for (const code of [curl, clientCode])
    expect(code({ ...run, input })).toContain('<1000 characters of base64>')
})

it('is code for clients, with their credentials from elsewhere', () => {
  const text = '</script> "; alert(1); // \u2028'
  const whole = { ...run, input: text, ask, hasKey: true, sessionId: 's' }
  expect(clientCode(whole)).toContain(
    `client.agent("helper").stream("</script> \\"; alert(1); // \\u2028", {"sessionId":"s"})`,
  )
  expect(clientCode(whole)).toContain(`headers: { "authorization": "Bearer " + process.env.TOKEN }`)
  expect(clientCode(whole)).toContain('apiKey: process.env.KEY')
  expect(useChatCode(whole)).toContain(`api: "http://127.0.0.1:8787/api/agents/helper/chat"`)
  expect(openaiCode(whole)).toContain('baseURL: "http://127.0.0.1:8787/v1"')
  for (const code of [clientCode, useChatCode, openaiCode])
    expect(code(whole)).toContain('alert(1); // \\u2028')
})
