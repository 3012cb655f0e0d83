/** The ways in which a server before the handler may differ. The default is none. */
export interface Host {
  /** It refuses a path with broken percent-encoding before the handler runs. */
  readonly decodesPaths?: boolean
  /** It decides about requests for a WebSocket before the handler is asked. */
  readonly keepsUpgrades?: boolean
  /** It reads a body to its end before it passes an answer on, so an endless body gets no answer. */
  readonly readsBodies?: boolean
  /** It logs an uncaught error of its own if a client leaves a stream. */
  readonly logsLeaving?: boolean
  /** Nobody tells it that a client has left. */
  readonly hearsNobodyLeave?: boolean
}
