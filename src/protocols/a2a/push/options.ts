/** Options of push notifications. */
export interface PushOptions {
  /**
   * Receivers that are allowed although they are not public: hosts (`localhost`), hosts with a port, and address ranges. For
   * these `http:` is allowed too. Default: none, so only public `https:` addresses.
   */
  readonly allow?: readonly string[]
  /**
   * Signs notifications, so that a receiver can check them with `verifyWebhook`. It is 24 bytes or more in base64, with or
   * without `whsec_` before it. Default: they are not signed.
   */
  readonly secret?: string
  /** Most configs of one task. Default: 10. */
  readonly maxConfigs?: number
  /** Milliseconds that a receiver may take to answer. Default: 10,000. */
  readonly timeoutMs?: number
  /** Failures in a row after which a receiver gets no more notifications. Default: 10. */
  readonly maxTries?: number
  /** Milliseconds before the second try. Each further try waits twice as long. Default: 1,000. */
  readonly retryMs?: number
  /** Most milliseconds between two tries. Default: 600,000. */
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
