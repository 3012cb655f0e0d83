/** What a server that stands before the handler decides by itself. By default nothing. */
export interface Host {
  /** It answers a path with broken percent-encoding, before the handler is asked. */
  readonly decodesPaths?: boolean
  /** It reads a body to its end before it passes an answer on: one that has no end is never answered. */
  readonly readsBodies?: boolean
  /** It logs an uncaught error of its own for a client that leaves a stream. */
  readonly logsLeaving?: boolean
}
