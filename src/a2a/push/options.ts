/** How clients are told of their tasks. */
export interface PushOptions {
  /**
   * Hosts (`localhost`), hosts with a port and address ranges that may be told though they are not public; they may be told
   * over `http:` as well. Default: none, and `https:` alone.
   */
  readonly allow?: readonly string[]
  /** Signs what is told, so that a receiver can tell it from others' (`verifyWebhook`): 24 bytes or more in base64, `whsec_` before it or not. */
  readonly secret?: string
  /** Most configs of one task. Default 10. */
  readonly maxConfigs?: number
  /** Milliseconds that a receiver may take. Default 10,000. */
  readonly timeoutMs?: number
  /** How often in a row a receiver may fail before it is given up. Default 10. */
  readonly maxTries?: number
  /** Milliseconds before the second try; each further one waits twice as long. Default 1,000. */
  readonly retryMs?: number
  /** Most milliseconds between two tries. Default 600,000. */
  readonly maxRetryMs?: number
}

/** The options with every default in place. */
export type PushSettings = Required<Omit<PushOptions, 'secret'>> & Pick<PushOptions, 'secret'>

/** The defaults. */
export const PUSH_DEFAULTS: PushSettings = {
  allow: [],
  maxConfigs: 10,
  timeoutMs: 10_000,
  maxTries: 10,
  retryMs: 1000,
  maxRetryMs: 600_000,
}
