import {
  type JSONRPCMessage,
  StreamableHTTPClientTransport,
  type StreamableHTTPClientTransportOptions,
} from '@modelcontextprotocol/client'

type SendOptions = NonNullable<Parameters<StreamableHTTPClientTransport['send']>[1]>

type Listener = StreamableHTTPClientTransport['onmessage']

/** The JSON-RPC code for an answer that will not come. It is in JSON-RPC's reserved range. */
export const BROKEN_OFF = -32000

/**
 * Streamable HTTP that ends requests which are no longer needed. The official client leaves the request open if its call was
 * cancelled or timed out. It also waits forever if an answer breaks off.
 */
export class HttpTransport extends StreamableHTTPClientTransport {
  readonly #open = new Map<unknown, AbortController>()
  #onMessage: Listener

  constructor(url: URL, options: StreamableHTTPClientTransportOptions) {
    super(url, options)
    // All messages to the listener pass here, so that an answer ends its request.
    Object.defineProperty(this, 'onmessage', {
      get: () => this.#onMessage,
      set: (listener: Listener) => {
        this.#onMessage = listener && this.#noting(listener)
      },
    })
  }

  override async send(message: JSONRPCMessage | JSONRPCMessage[], options: SendOptions = {}): Promise<void> {
    if (Array.isArray(message) || !('method' in message)) return super.send(message, options)
    if (!('id' in message)) {
      if (message.method === 'notifications/cancelled') this.#end(Object(message.params).requestId)
      return super.send(message, options)
    }
    const { id } = message
    const controller = new AbortController()
    this.#open.set(id, controller)
    const { requestSignal, onRequestStreamEnd } = options
    try {
      await super.send(message, {
        ...options,
        requestSignal: requestSignal
          ? AbortSignal.any([requestSignal, controller.signal])
          : controller.signal,
        onRequestStreamEnd: () => {
          onRequestStreamEnd?.()
          this.#breakOff(id)
        },
      })
    } catch (error) {
      this.#open.delete(id)
      throw error
    }
  }

  override async close(): Promise<void> {
    this.#open.clear()
    await super.close()
  }

  #noting(listener: NonNullable<Listener>): NonNullable<Listener> {
    return (message, ...more) => {
      if ('id' in message && !('method' in message)) this.#open.delete(message.id)
      listener(message, ...more)
    }
  }

  #end(id: unknown): void {
    this.#open.get(id)?.abort()
    this.#open.delete(id)
  }

  /** The stream of a request has ended. Without an answer so far, there will be none. */
  #breakOff(id: string | number): void {
    if (!this.#open.delete(id)) return
    const error = { code: BROKEN_OFF, message: 'The answer of the tool server was cut off' }
    this.#onMessage?.({ jsonrpc: '2.0', id, error })
  }
}
