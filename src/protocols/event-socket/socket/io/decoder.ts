import { putBinary } from './binary.ts'
import { ACK, type Decoded, decodePacket, EVENT, type Packet } from './packet.ts'

/** Reads the messages of one client. It holds a packet until all attachments have come. Never throws. */
export class Decoder {
  readonly #maxAttachments: number
  #waiting: Decoded | undefined
  #attachments: Uint8Array[] | undefined

  constructor(maxAttachments: number) {
    this.#maxAttachments = maxAttachments
  }

  /**
   * Returns a packet that is now complete. Undefined if attachments are still to come. `invalid` if the message is not
   * valid.
   */
  add(message: string | Uint8Array): Packet | 'invalid' | undefined {
    if (typeof message !== 'string') return this.#addAttachment(message)
    if (this.#waiting !== undefined) return 'invalid'
    const decoded = decodePacket(message)
    if (decoded === undefined || decoded.attachments > this.#maxAttachments) return 'invalid'
    if (decoded.attachments === 0) return decoded.packet
    this.#waiting = decoded
    return undefined
  }

  #addAttachment(bytes: Uint8Array): Packet | 'invalid' | undefined {
    if (this.#waiting === undefined) return 'invalid'
    const { packet, attachments } = this.#waiting
    this.#attachments ??= []
    if (this.#attachments.push(bytes) < attachments) return undefined
    const parts = this.#attachments
    this.#waiting = undefined
    this.#attachments = undefined
    const hasArguments = packet.type === EVENT || packet.type === ACK
    return hasArguments && putBinary(packet.data, parts) ? packet : 'invalid'
  }
}
