/** An answer that was encoded more often than a client undoes, by what it says, and that breaks off. */
import type { ServerResponse } from 'node:http'

/** What becomes of the connection after the head of the answer. */
export const OVERCODED = ['overcoded-closes', 'overcoded-resets', 'overcoded-stays'] as const

/** Answers so. The `fetch` of some versions of Node ends its process on it. */
export function overcode(
  { socket }: ServerResponse,
  how: (typeof OVERCODED)[number],
  type = 'text/plain',
): true {
  const codings = Array(7).fill('gzip').join(', ')
  const fields = [`content-type: ${type}`, `content-encoding: ${codings}`, 'content-length: 100']
  const head = `HTTP/1.1 200 OK\r\n${fields.join('\r\n')}\r\n\r\n`
  if (how === 'overcoded-closes') socket?.end(head)
  else if (how === 'overcoded-resets') socket?.write(head, () => socket.resetAndDestroy())
  else socket?.write(head)
  return true
}
