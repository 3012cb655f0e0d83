import type { Receiver } from '../../../features/webhooks/delivery/lanes.ts'
import type { Delivery } from '../../../features/webhooks/delivery/sender.ts'
import type { KeptPush } from './kept.ts'
import type { Notice } from './notice.ts'

/** The receiver of a config. */
export function receiverOf({ config: { url }, client, failures }: KeptPush): Receiver {
  return { url, client, failures }
}

/** Makes the request of a notice for the receiver of a config, with the token and credentials that the client gave. */
export function deliveryOf({ taskId, config }: KeptPush, { seq, body, contentType }: Notice): Delivery {
  const { id, url, token, scheme, credentials, version } = config
  return {
    url,
    id: `${taskId}.${encoded(id)}.${seq}`,
    body,
    headers: {
      'content-type': contentType,
      'a2a-version': version,
      ...(token !== undefined && { 'x-a2a-notification-token': token }),
      ...(scheme !== undefined && { authorization: [scheme, credentials].filter(Boolean).join(' ') }),
    },
  }
}

/** A client's id, encoded for use in a header and between dots. */
function encoded(id: string): string {
  return encodeURIComponent(id.toWellFormed()).replaceAll('.', '%2E')
}
