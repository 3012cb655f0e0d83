/**
 * The side of the console in the talk with a page in a frame (MCP Apps, revision 2026-01-26). What the page may ask for is a list;
 * what leads out of the frame is decided by the user.
 *
 * @module
 */

import { addressIn, Flow, type FromPage, messageIn, textIn } from './messages.ts'
import { callForPage, hasTools } from './tools.ts'

const REVISION = '2026-01-26'

/** The codes of JSON-RPC. */
const METHOD_NOT_FOUND = -32601
const INVALID_PARAMS = -32602
const REFUSED = -32000

/** Most calls of tools of one page at a time. */
const MAX_CALLS = 4

/** The page, its call, and what its user sees of it. */
export interface Shown {
  readonly html: string
  /** The tool server that it is of. Null is the service. */
  readonly server: string | null
  readonly input: object
  readonly result: object
  readonly version: string
  /** The height that it wants in CSS pixels. */
  resize(height: number): void
  /** Asks the user whether an address may be opened. */
  openLink(address: string): Promise<boolean>
  /** Puts a text into the field for messages. */
  write(text: string): void
  /** Closes the frame, and says why. */
  close(why: string): void
}

/** Talks with a page, until its signal fires. */
export class PageHost {
  readonly #shown: Shown
  readonly #target: Window
  readonly #signal: AbortSignal
  readonly #flow = new Flow()
  readonly #scheme = matchMedia('(prefers-color-scheme: dark)')
  #hasPage = false
  #hasBegun = false
  #calls = 0
  #isAsking = false

  constructor(target: Window, shown: Shown, signal: AbortSignal) {
    this.#shown = shown
    this.#target = target
    this.#signal = signal
    addEventListener('message', this.#take, { signal })
    this.#scheme.addEventListener('change', this.#tellTheme, { signal })
  }

  readonly #take = (event: MessageEvent): void => {
    // A page in a sandbox has no origin.
    if (event.source !== this.#target || event.origin !== 'null') return
    const way = this.#flow.take(performance.now())
    if (way === 'close') return this.#shown.close('The page sent too many messages, so it was closed.')
    if (way === 'skip') return
    const message = messageIn(event.data)
    if (message === undefined) return
    if (message.id === undefined) return this.#hear(message)
    const { id } = message
    this.#answer(message).then(
      result => this.#send({ id, result }),
      error =>
        this.#send({
          id,
          error: { code: Object(error).code ?? REFUSED, message: String(Object(error).message) },
        }),
    )
  }

  #send(message: object): void {
    // The frame has no origin that could be named, and only shows what the console gave it.
    if (!this.#signal.aborted) this.#target.postMessage({ jsonrpc: '2.0', ...message }, '*')
  }

  #hear({ method, params }: FromPage): void {
    if (method === 'ui/notifications/sandbox-proxy-ready') {
      // The empty frame is there again: the page has left it, and gets no second one.
      if (this.#hasPage) return this.#shown.close('The page tried to leave its frame, so it was closed.')
      this.#hasPage = true
      this.#send({ method: 'ui/notifications/sandbox-resource-ready', params: { html: this.#shown.html } })
    }
    if (method === 'ui/notifications/initialized' && !this.#hasBegun) {
      this.#hasBegun = true
      this.#send({ method: 'ui/notifications/tool-input', params: { arguments: this.#shown.input } })
      this.#send({ method: 'ui/notifications/tool-result', params: this.#shown.result })
    }
    if (method === 'ui/notifications/size-changed' && Number.isFinite(params.height))
      this.#shown.resize(Number(params.height))
  }

  readonly #tellTheme = (): void =>
    this.#send({ method: 'ui/notifications/host-context-changed', params: { theme: this.#theme } })

  get #theme(): 'dark' | 'light' {
    return this.#scheme.matches ? 'dark' : 'light'
  }

  async #answer({ method, params }: FromPage): Promise<object> {
    switch (method) {
      case 'ping':
        return {}
      case 'ui/initialize':
        return {
          protocolVersion: REVISION,
          hostInfo: { name: 'servable', version: this.#shown.version },
          hostCapabilities: { openLinks: {}, message: { text: {} }, ...(hasTools() && { serverTools: {} }) },
          hostContext: {
            ...{
              theme: this.#theme,
              displayMode: 'inline',
              availableDisplayModes: ['inline'],
              platform: 'web',
            },
            locale: navigator.language,
          },
        }
      case 'ui/request-display-mode':
        return { mode: 'inline' }
      case 'ui/open-link':
        return this.#openLink(params)
      case 'ui/message': {
        const text = textIn(params)
        if (text === undefined) throw wrong('`content` must be text of the role `user`')
        this.#shown.write(text)
        return {}
      }
      case 'tools/call':
        return this.#callTool(params)
      default:
        throw coded(METHOD_NOT_FOUND, 'There is no such method')
    }
  }

  async #openLink(params: FromPage['params']): Promise<object> {
    const address = addressIn(params)
    if (address === undefined) throw wrong('`url` must be an address of http or https')
    if (this.#isAsking) return { isError: true }
    this.#isAsking = true
    try {
      return (await this.#shown.openLink(address)) ? {} : { isError: true }
    } finally {
      this.#isAsking = false
    }
  }

  async #callTool(params: FromPage['params']): Promise<object> {
    if (!hasTools()) throw coded(METHOD_NOT_FOUND, 'This service has no tools for pages')
    if (this.#calls >= MAX_CALLS) throw coded(REFUSED, `A page has ${MAX_CALLS} calls at a time`)
    this.#calls++
    try {
      return await callForPage(this.#shown.server, params, this.#signal)
    } finally {
      this.#calls--
    }
  }
}

function coded(code: number, message: string): Error {
  return Object.assign(new Error(message), { code })
}

const wrong = (message: string): Error => coded(INVALID_PARAMS, message)
